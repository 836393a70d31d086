"""Graph nodes: one public function a file, named as the file."""
