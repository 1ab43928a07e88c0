package targetsync

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

// TestKnows: Secrets are read again unless each of ours is known as the cache shows it, however
// many others there are.
func TestKnows(t *testing.T) {
	for _, test := range []struct {
		reason string
		// shown are the Secrets in the cache, known those in the memory: name@version; a name
		// in brackets has not our label.
		shown, known string
		unread, want bool
	}{
		{"none", "", "", false, true},
		{"none, but they were never read", "", "", true, false},
		{"all are known", "a@1 b@2", "a@1 b@2", false, true},
		{"all are known, among others", "(x@1) a@1 (y@1) b@2 (z@1)", "a@1 b@2", false, true},
		{"a new one", "a@1 b@2", "a@1", false, false},
		{"a new one, while none was known", "a@1", "", false, false},
		{"several new ones", "a@1 b@1 c@1", "", false, false},
		{"the last one was changed", "a@1 b@3", "a@1 b@2", false, false},
		{"the first one was changed", "a@2 b@2 c@3", "a@1 b@2 c@3", false, false},
		{"a Secret is deleted", "a@1", "a@1 b@2", false, false},
		{"a Secret is deleted, and another one is new", "a@1 c@1", "a@1 b@2", false, false},
		{"a Secret has lost its label", "a@1 (b@2)", "a@1 b@2", false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m, cached := &memory{read: !test.unread, secrets: map[string]syncplan.Secret{}}, &metav1.PartialObjectMetadataList{}
			for _, text := range strings.Fields(test.known) {
				name, version, _ := strings.Cut(text, "@")
				m.secrets[name] = syncplan.Secret{Version: version}
			}
			for _, text := range strings.Fields(test.shown) {
				name, version, _ := strings.Cut(strings.Trim(text, "()"), "@")
				secret := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
				if !strings.HasPrefix(text, "(") {
					secret.Labels = map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}
				}
				cached.Items = append(cached.Items, secret)
			}
			known, got := m.knows(cached)
			if got != test.want || got && len(known) != len(m.secrets) {
				t.Errorf("got %t, %v", got, known)
			}
		})
	}
}
