package job

import "strings"

// A job has two rounds where objects may move. In the first one, everything that is wanted is
// applied, and what somebody else in the same tree might still take over is kept. The second
// one, the removal round, reaches only those parts of the tree that have kept something, and
// removes what nobody has taken over. Its ID is that of the job with a suffix, so that each
// level below the root learns of the round as it learns of a job.

// removalSuffix marks the ID of a removal round.
const removalSuffix = "-removal"

// RemovalOf returns the ID of the removal round of a job.
func RemovalOf(jobID string) string { return BaseOf(jobID) + removalSuffix }

// BaseOf returns the ID of the job that a round belongs to.
func BaseOf(jobID string) string { return strings.TrimSuffix(jobID, removalSuffix) }

// IsRemoval reports whether an ID is that of a removal round.
func IsRemoval(jobID string) bool { return strings.HasSuffix(jobID, removalSuffix) }
