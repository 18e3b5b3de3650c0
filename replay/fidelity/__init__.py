"""Compare what a recorded scheduler decided with what its sessions decide when run again."""
