"""What is known of users: attributes read off their conversations, and texts made of them."""
