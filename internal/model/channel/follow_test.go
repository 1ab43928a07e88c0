package channel

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// TestFollow: an Installation gets the version of its Channel when that is newer, and nothing else.
func TestFollow(t *testing.T) {
	type (
		installation = v1alpha1.Installation
		channel      = fleetv1alpha1.Channel
	)
	for _, test := range []struct {
		reason string
		inst   func(*installation)
		ch     func(*channel)
		want   string
		says   string
	}{
		{"a newer version", nil, nil, "1.2.0", ""},
		{"the same version", func(i *installation) { i.Spec.ComponentDescriptor.Reference.Version = "1.2.0" }, nil, "", ""},
		{"nothing goes back by itself", func(i *installation) { i.Spec.ComponentDescriptor.Reference.Version = "1.3.0" }, nil, "", "it has 1.3.0, which is newer than 1.2.0"},
		{"a version is given once: after a failure, the server has gone back", func(i *installation) { i.Annotations[fleetv1alpha1.FollowedAnnotation] = "1.2.0" }, nil, "", "it had 1.2.0 before, and has gone back to 1.1.0"},
		{"a later one is given then", func(i *installation) { i.Annotations[fleetv1alpha1.FollowedAnnotation] = "1.1.5" }, nil, "1.2.0", ""},
		{"a request of a user goes first", func(i *installation) { i.Annotations[v1alpha1.OperationAnnotation] = "interrupt" }, nil, "", ""},
		{"the Channel does not exist", nil, func(c *channel) { c.Name = "" }, "", "there is no such Channel"},
		{"the Channel has found nothing", nil, func(c *channel) { c.Status.Version = "" }, "", ""},
		{"what the Channel has found was for another specification", nil, func(c *channel) { c.Generation = 8 }, "", ""},
		{"another component", nil, func(c *channel) { c.Spec.Component = "example.org/tools" }, "", "it is of component example.org/shop, and the Channel finds versions of example.org/tools"},
		{"another Context may lead to another registry", func(i *installation) { i.Spec.Context = "staging" }, nil, "", "it has Context staging, and the Channel has default"},
		{"the default Context by its name", func(i *installation) { i.Spec.Context = "default" }, nil, "1.2.0", ""},
		{"an inline component has no version to set", func(i *installation) { i.Spec.ComponentDescriptor = nil }, nil, "", "spec.componentDescriptor.ref is missing"},
		{"a text instead of a version", func(i *installation) { i.Spec.ComponentDescriptor.Reference.Version = "main" }, nil, "", `"main" is not a semantic version`},
		{"a part of a tree", func(i *installation) {
			i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "root", UID: "r", Controller: new(true)}}
			i.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
		}, nil, "", "it is a part of another Installation"},
		{"an Installation of a Fleet", func(i *installation) { i.Labels = map[string]string{fleetv1alpha1.FleetLabel: "shops"} }, nil, "", "it belongs to Fleet shops"},
		{"one that is being deleted", func(i *installation) { i.DeletionTimestamp = &metav1.Time{Time: noon} }, nil, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &installation{ObjectMeta: metav1.ObjectMeta{Name: "shop", Annotations: map[string]string{fleetv1alpha1.ChannelAnnotation: "stable"}}}
			inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.1.0"}}
			ch := &channel{ObjectMeta: metav1.ObjectMeta{Name: "stable", Generation: 7}, Spec: *spec("1.x"), Status: fleetv1alpha1.ChannelStatus{ObservedGeneration: 7, Version: "1.2.0"}}
			if test.inst != nil {
				test.inst(inst)
			}
			if test.ch != nil {
				test.ch(ch)
			}
			if ch.Name == "" {
				ch = nil
			}
			got := Follow(inst, ch)
			if got.Version != test.want || (got.Refused != "") != (test.says != "") || !strings.Contains(got.Refused, test.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}
