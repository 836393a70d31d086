"""The engines, one file each, behind one port."""
