"""The lab's hosts behind another gateway's wire: that of the Vercel AI Gateway."""
