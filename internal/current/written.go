package current

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Written remembers which version of each object this process wrote last, so
// that a controller does not act on an older one from its cache: the newer one
// is on its way and wakes the controller.
// Versions that are no numbers are believed: then a conflict stops a write that is too late.
type Written struct{ versions versions[types.UID] }

const (
	// lasts is how long a version is waited for. One that a cache does not show by then will
	// not come: the object is gone, or the store was restored from a backup.
	lasts = 10 * time.Minute
	// sweeping is how often what has lasted is looked for.
	sweeping = time.Minute
)

// Record remembers the version of an object that was just written.
func (w *Written) Record(object metav1.Object) {
	w.versions.sweep(sweeping, lasts)
	w.versions.wrote(object.GetUID(), versionOf(object))
}

// Fresh reports whether an object from a cache is at least as new as what this
// process wrote. What it no longer needs to remember it forgets.
func (w *Written) Fresh(object metav1.Object) bool {
	w.versions.sweep(sweeping, lasts)
	return w.versions.shown(object.GetUID(), versionOf(object))
}

// Forget drops what is remembered of an object that is gone.
func (w *Written) Forget(uid types.UID) { w.versions.forget(uid) }
