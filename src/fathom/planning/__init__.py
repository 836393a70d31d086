"""Planning: effort, perspectives, query candidates and their choice, branches, lessons of earlier rounds."""
