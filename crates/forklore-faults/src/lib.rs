//! What breaks stores on purpose: failing disks, crash images, kills, crowds, bad bytes.
