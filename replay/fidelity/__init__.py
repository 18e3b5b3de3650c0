"""What a recorded scheduler decided, and what its sessions decide when they are run again."""
