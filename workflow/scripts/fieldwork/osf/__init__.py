"""OSF: requests to it, what the storage of a project holds, and files sent there."""
