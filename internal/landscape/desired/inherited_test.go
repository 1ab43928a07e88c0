package desired

import (
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// TestLeaveEarlierCluster: an annotation of an Installation reaches its items; one that a user has
// set on an item stays.
func TestLeaveEarlierCluster(t *testing.T) {
	const leave = v1alpha1.LeaveEarlierClusterAnnotation
	for _, test := range []struct {
		reason, above, here, want string
		change                    Change
	}{
		{"no annotation anywhere", "", "", "", None},
		{"an annotation of the parent is added", "one", "", "one", Update},
		{"an annotation of the parent that is here already", "one", "one", "one", None},
		{"a changed annotation of the parent is copied", "two", "one", "two", Update},
		{"an annotation that was set here stays", "", "one", "one", None},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst, exec, template := installation(), execution(), fullTemplate(t)
			first, _, err := Execution(inst, v1alpha1.DeployItemTemplateList{template}, nil)
			if err != nil {
				t.Fatal(err)
			}
			item, _, err := DeployItem(exec, &template, nil, nil, 0, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			set := func(annotations map[string]string, value string) map[string]string {
				if value != "" {
					annotations = merged(annotations, map[string]string{leave: value})
				}
				return annotations
			}
			inst.Annotations, exec.Annotations = set(inst.Annotations, test.above), set(exec.Annotations, test.above)
			liveExec, liveItem := stored(t, first), stored(t, item)
			liveExec.Annotations, liveItem.Annotations = set(liveExec.Annotations, test.here), set(liveItem.Annotations, test.here)
			gotExec, change, err := Execution(inst, v1alpha1.DeployItemTemplateList{template}, liveExec)
			if err != nil || change != test.change || gotExec.Annotations[leave] != test.want {
				t.Errorf("Execution: %s, %q, error %v", change, gotExec.Annotations[leave], err)
			}
			gotItem, change, err := DeployItem(exec, &template, liveItem, nil, 0, time.Unix(0, 0))
			if err != nil || change != test.change || gotItem.Annotations[leave] != test.want {
				t.Errorf("DeployItem: %s, %q, error %v", change, gotItem.Annotations[leave], err)
			}
		})
	}
}
