"""From what people have to events: formats, and the shell that opens their inputs."""
