"""What do many pinned answers, counted, say of a route? Pure: values in, counts and contrasts out."""
