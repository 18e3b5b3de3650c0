"""What a command found, for code review and for pipelines: SARIF and JUnit XML."""
