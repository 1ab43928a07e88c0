package desired

import (
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/given"
)

// TestGiven: what an Installation gives to an item reaches the deployer, and is no longer there when
// the next job gives nothing.
func TestGiven(t *testing.T) {
	exec, template := execution(), fullTemplate(t)
	for _, test := range []struct {
		reason        string
		before, after *v1alpha1.Given
		allowed       bool
	}{
		{"an item without a limit", nil, nil, true},
		{"a limit comes", nil, &v1alpha1.Given{}, false},
		{"a limit goes", &v1alpha1.Given{}, nil, true},
		{"another Target is given", &v1alpha1.Given{}, &v1alpha1.Given{Targets: []string{"edge"}}, true},
		{"a Target is taken away", &v1alpha1.Given{Targets: []string{"edge"}}, &v1alpha1.Given{Targets: []string{"other"}}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			template.Given = test.before
			first, _, err := DeployItem(exec, &template, nil, nil, 0, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			template.Given = test.after
			second, _, err := DeployItem(exec, &template, stored(t, first), nil, 0, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if err := given.CheckTarget(second, "edge"); (err == nil) != test.allowed {
				t.Errorf("got %v", err)
			}
			if _, there := second.Annotations[v1alpha1.GivenAnnotation]; there != (test.after != nil) {
				t.Errorf("the annotation is %q", second.Annotations[v1alpha1.GivenAnnotation])
			}
		})
	}
}
