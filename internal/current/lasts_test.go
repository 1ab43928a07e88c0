package current

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWrittenLasts: what was written may never be shown. A store that was restored from a
// backup counts from there, and an object may be gone before its version is recorded.
func TestWrittenLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		object := func(version string) metav1.Object { return &metav1.ObjectMeta{UID: "u", ResourceVersion: version} }
		var written Written
		written.Record(object("10"))
		<-time.After(lasts - time.Second)
		if written.Fresh(object("9")) {
			t.Error("a cache that is behind is believed too soon")
		}
		<-time.After(sweeping)
		if !written.Fresh(object("9")) {
			t.Error("it waits for ever for what never comes")
		}
		written.Record(object("11"))
		written.Forget("u")
		written.Record(object("12"))
		<-time.After(lasts + time.Second)
		written.Record(&metav1.ObjectMeta{UID: "v", ResourceVersion: "13"})
		if len(written.versions.known) != 1 {
			t.Errorf("it remembers what is gone: %v", written.versions.known)
		}
	})
}
