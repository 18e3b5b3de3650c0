"""The door for agents: the questions of the API as tools of the Model Context Protocol."""
