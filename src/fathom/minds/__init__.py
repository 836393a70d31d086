"""Who thinks: any chat model, or none at all, behind one port."""
