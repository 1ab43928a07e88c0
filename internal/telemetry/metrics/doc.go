// Package metrics counts jobs and waits for the metrics. It learns of them from the
// watches that the controllers have anyway, so that no controller has to say what it
// does, and so that what others drive (deployers elsewhere) counts as well. No label
// holds anything that a user writes.
package metrics
