package installation

// Roots that import what a job has changed get a job of their own. Who they are is
// stored with the end of the job and removed when they were asked, so that a crash in
// between asks them again, and never none.
