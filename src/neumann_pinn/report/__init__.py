"""What people read: figures, tables, pages, the document, terminal messages. No torch."""
