package targetsync

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// TestRotationRequeues: what is not due yet says when it is.
func TestRotationRequeues(t *testing.T) {
	claims := fmt.Appendf(nil, `{"iat":%d,"exp":%d}`, now.Add(-time.Minute).Unix(), now.Add(5*time.Minute).Unix())
	content := fmt.Sprintf(`{"users":[{"name":"sync-bot","user":{"token":"e30.%s.c2ln"}}]}`, base64.RawURLEncoding.EncodeToString(claims))
	sync := fleet()
	sync.Spec.TokenRotation = &v1alpha1.TokenRotation{Enabled: true}
	r := &run{
		Reconciler: &Reconciler{Now: func() time.Time { return now }}, sync: sync,
		access: access{kubeconfig: []byte(content), rotated: now.Add(-time.Minute)},
	}
	o := &outcome{}
	r.rotate(t.Context(), o)
	if want := now.Add(3 * time.Minute); !o.wake.Equal(want) || o.rotationErr != nil {
		t.Errorf("got %s, %v, want %s", o.wake, o.rotationErr, want)
	}
}
