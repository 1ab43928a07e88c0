package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestDeliveryKind: a cluster without the kind of policies is no reason to end, and is said. Nothing is
// asked where the feature is off.
func TestDeliveryKind(t *testing.T) {
	for _, test := range []struct {
		reason  string
		on      bool
		errs    []error
		asked   int
		trouble string
		err     string
	}{
		{"the feature is off", false, nil, 0, "", ""},
		{"the kinds are served", true, nil, 3, "", ""},
		{"the kind is not served", true, []error{&meta.NoKindMatchError{}}, 1, `run "landscaper install --feature-gates=DeliveryPolicies=true"`, ""},
		{"an API server that fails is asked again", true, []error{errors.New("busy")}, 4, "", ""},
		{"rights that are missing end the start", true, []error{apierrors.NewUnauthorized("who is it")}, 1, "", "look for kind DeliveryPolicy"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config := Default()
			if test.on {
				if err := config.Features.Set("DeliveryPolicies=true"); err != nil {
					t.Fatal(err)
				}
			}
			d, m := newDelivery(&config), &mapper{errs: test.errs}
			err := d.look(t.Context(), m, wait.Backoff{Steps: 3}, logr.Discard())
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) || m.asked != test.asked {
				t.Errorf("asked %d times, %v", m.asked, err)
			}
			if said := d.trouble(); (said != "") != (test.trouble != "") || !strings.Contains(said, test.trouble) {
				t.Errorf("it says %q", said)
			}
		})
	}
	if (*optional)(nil).trouble() != "" {
		t.Error("without the feature, something is missing")
	}
}
