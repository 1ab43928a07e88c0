package desired

import (
	"reflect"
	"slices"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// planned is a subinstallation as a plan makes it.
func planned() *v1alpha1.Installation {
	sub := &v1alpha1.Installation{}
	sub.Namespace = "n"
	sub.Labels = map[string]string{v1alpha1.EncompassedByLabel: "shop"}
	sub.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: "db"}
	sub.Spec.Context = "default"
	sub.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON([]byte(`{"a":"b"}`))}
	sub.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "x", DataRef: "y"}}
	return sub
}

// TestSubinstallation: what a parent wants of a subinstallation.
func TestSubinstallation(t *testing.T) {
	parent := installation()
	first, _, err := Subinstallation(parent, planned(), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, _, _ := Subinstallation(parent, planned(), nil, 1)
	owner := job.Owner{Kind: "Installation", Object: parent}
	if first.Name != job.ChildName(parent.UID, "db", 0) || first.GenerateName != "db-" || second.Name == first.Name || !owner.Owns(first) || !*first.OwnerReferences[0].Controller || !slices.Equal(first.Finalizers, []string{v1alpha1.Finalizer}) {
		t.Errorf("%+v", first.ObjectMeta)
	}
	for _, test := range []struct {
		reason string
		plan   func(*v1alpha1.Installation)
		live   func(*v1alpha1.Installation)
		want   Change
		check  func(*v1alpha1.Installation) bool
	}{
		{"as it is wanted", nil, nil, None, nil},
		{"with an empty definition of a component, as upstream stores it", nil, func(live *v1alpha1.Installation) {
			live.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{}
		}, None, nil},
		{"with an empty definition where there is a component now", func(plan *v1alpha1.Installation) {
			plan.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "c", Version: "1"}}
		}, func(live *v1alpha1.Installation) {
			live.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{}
		}, Update, func(got *v1alpha1.Installation) bool {
			return got.Spec.ComponentDescriptor.Reference.ComponentName == "c"
		}},
		{"the component no longer exists", nil, func(live *v1alpha1.Installation) {
			live.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "c", Version: "1"}}
		}, Update, func(got *v1alpha1.Installation) bool { return got.Spec.ComponentDescriptor.IsEmpty() }},
		{"other imports", func(plan *v1alpha1.Installation) { plan.Spec.Imports.Data[0].DataRef = "z" }, nil, Update, func(got *v1alpha1.Installation) bool { return got.Spec.Imports.Data[0].DataRef == "z" }},
		{"the parent asks for a signature", func(plan *v1alpha1.Installation) {
			plan.Spec.Verification = &v1alpha1.Verification{SignatureName: "s"}
		}, nil, Update, func(got *v1alpha1.Installation) bool { return got.Spec.Verification.SignatureName == "s" }},
		{"the parent has another Context", func(plan *v1alpha1.Installation) { plan.Spec.Context = "other" }, nil, Update, nil},
		{"labels, annotations and finalizers of others are theirs", nil, func(live *v1alpha1.Installation) {
			live.Labels["theirs"], live.Annotations["theirs"] = "l", "a"
			live.Finalizers = append(live.Finalizers, "theirs")
		}, None, nil},
		{"labels and annotations of others stay when the Context changes", func(plan *v1alpha1.Installation) { plan.Spec.Context = "other" }, func(live *v1alpha1.Installation) {
			live.Labels["theirs"], live.Annotations["theirs"] = "l", "a"
		}, Update, func(got *v1alpha1.Installation) bool {
			return got.Labels["theirs"] == "l" && got.Annotations["theirs"] == "a"
		}},
		{"a label of ours was taken away", nil, func(live *v1alpha1.Installation) { live.Labels = nil }, Update, nil},
		{"the parent no longer caches charts", nil, func(live *v1alpha1.Installation) {
			live.Annotations[v1alpha1.CacheHelmChartsAnnotation] = "true"
		}, Update, func(got *v1alpha1.Installation) bool { return len(got.Annotations) == 1 }},
		{"automatic jobs are what the user has set", nil, func(live *v1alpha1.Installation) {
			live.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{}
		}, None, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			plan, live := planned(), stored(t, first)
			if test.plan != nil {
				test.plan(plan)
			}
			if test.live != nil {
				test.live(live)
			}
			got, change, err := Subinstallation(parent, plan, live, 0)
			if err != nil || change != test.want || test.check != nil && !test.check(got) {
				t.Errorf("%s, %v: %+v", change, err, got)
			}
			if got.Name != first.Name {
				t.Errorf("the name is %s", got.Name)
			}
		})
	}
}

// TestSubinstallationTwice: with every field of the specification set, the second job
// changes nothing, and a change of any field is written.
func TestSubinstallationTwice(t *testing.T) {
	parent, plan := installation(), planned()
	filled(t, reflect.ValueOf(&plan.Spec).Elem(), "spec")
	first, _, err := Subinstallation(parent, plan, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, change, err := Subinstallation(parent, plan, stored(t, first), 0); err != nil || change != None {
		t.Errorf("%s, %v", change, err)
	}
	fields := reflect.TypeFor[v1alpha1.InstallationSpec]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if name == "AutomaticReconcile" || name == "RegistryPullSecrets" {
			continue // what no template sets stays as it is
		}
		t.Run(name, func(t *testing.T) {
			changed := plan.DeepCopy()
			field := reflect.ValueOf(&changed.Spec).Elem().Field(i)
			field.Set(reflect.Zero(field.Type()))
			if _, change, err := Subinstallation(parent, changed, stored(t, first), 0); err != nil || change != Update {
				t.Errorf("%s, %v", change, err)
			}
		})
	}
}
