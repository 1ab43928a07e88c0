package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// TestRemovalNamesItsWait: the status names what a deletion waits for: that objects which were left
// to the owner of the shoot are taken back, or that an object is deleted.
func TestRemovalNamesItsWait(t *testing.T) {
	piece := func(name, objects string) *gardener.ManagedResource {
		keep := true
		made := &gardener.ManagedResource{
			ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: name, Generation: 1, Finalizers: []string{"x/y"}},
			Spec:       gardener.ManagedResourceSpec{KeepObjects: &keep},
		}
		if objects != "" {
			made.Annotations = map[string]string{managed.ObjectsAnnotation: objects}
		}
		return made
	}
	for _, test := range []struct {
		reason  string
		objects string
		since   time.Duration
		want    string
	}{
		{"objects that were left to the owner", "left-to-owner", 0, "waiting until the resource manager has taken back the objects of ManagedResource " + ConfigName},
		{"objects that are about to be taken back", "reclaimed", 0, "waiting until the resource manager has taken back the objects of ManagedResource " + ConfigName},
		{"objects that are taken back for too long", "reclaimed", time.Hour, "look at the conditions of the ManagedResource"},
		{"objects that the resource manager has", "", 0, "waiting until the ManagedResource " + ConfigName + " is deleted: Flux removes what it has deployed"},
		{"something is not gone for too long", "", time.Hour, "look for finalizers in the shoot"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			e := extension(deleted, func(e *gardener.Extension) {
				when := metav1.NewTime(noon.Add(-test.since))
				e.DeletionTimestamp = &when
				remembered, err := state.Read(e)
				if err != nil {
					t.Fatal(err)
				}
				remembered.DeletionPolicy = string(config.Delete)
				e.Status.State = remembered.Encode()
			})
			s := newSeed(t, e, cluster(`},"spec":{}`), piece(ConfigName, test.objects), piece(InstallName, ""))
			_, err := s.look(t)
			if (err != nil) != (test.since > 0) {
				t.Fatal(err)
			}
			reported := s.stored(t).Status
			said := reported.LastOperation.Description
			if reported.LastError != nil {
				said += " " + reported.LastError.Description
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}
