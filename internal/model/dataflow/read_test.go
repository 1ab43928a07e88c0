package dataflow

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
)

// shelf has some objects by name.
type shelf struct {
	data    map[string]string
	targets map[string]*v1alpha1.Target
}

func (s shelf) Data(_ context.Context, object Object) (DataImport, error) {
	if object.Name == "broken" {
		return DataImport{}, errors.New("the API server does not answer")
	}
	text, ok := s.data[object.Name]
	if !ok {
		return DataImport{}, ErrMissing
	}
	return DataImport{Value: v1alpha1.NewAnyJSON([]byte(text))}, nil
}

func (s shelf) Target(_ context.Context, object Object) (*v1alpha1.Target, error) {
	target, ok := s.targets[object.Name]
	if !ok {
		return nil, ErrMissing
	}
	return target, nil
}

func (s shelf) Targets(_ context.Context, _ string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	var found []*v1alpha1.Target
	for _, target := range s.targets {
		if selector.Matches(labels.Set(target.Labels)) {
			found = append(found, target)
		}
	}
	return found, nil
}

func TestRead(t *testing.T) {
	element := func(name, index, key string) *v1alpha1.Target {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1alpha1.DataObjectKeyLabel: "clusters", v1alpha1.DataObjectSourceTypeLabel: "import",
			v1alpha1.DataObjectIndexLabel: index, v1alpha1.DataObjectTargetMapKeyLabel: key,
		}}}
	}
	objects := shelf{
		data:    map[string]string{"size": `"large"`},
		targets: map[string]*v1alpha1.Target{"one": element("one", "1", "b"), "two": element("two", "0", "a")},
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "space"}}
	inst.Spec.Imports = v1alpha1.InstallationImports{
		Data: []v1alpha1.DataImport{{Name: "size", DataRef: "size"}},
		Targets: []v1alpha1.TargetImport{
			{Name: "single", Target: "one"}, {Name: "list", Targets: []string{"two", "one"}}, {Name: "none", Targets: []string{}},
			{Name: "map", TargetMap: map[string]string{"x": "two"}},
			{Name: "all", TargetListReference: "clusters"}, {Name: "keyed", TargetMapReference: "clusters"},
		},
	}
	imports, err := Read(t.Context(), inst, objects)
	if err != nil {
		t.Fatal(err)
	}
	if string(imports.Data["size"].Value.RawMessage) != `"large"` || imports.Targets["single"].Name != "one" || imports.TargetMaps["map"]["x"].Name != "two" || imports.TargetMaps["keyed"]["b"].Name != "one" {
		t.Errorf("imports %+v", imports)
	}
	for name, want := range map[string]string{"list": "two one", "none": "", "all": "two one"} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, target := range imports.TargetLists[name] {
				got = append(got, target.Name)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("list %s is %v, want %s", name, got, want)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "space"}}
	inst.Spec.Imports = v1alpha1.InstallationImports{
		Data:    []v1alpha1.DataImport{{Name: "size", DataRef: "ghost"}},
		Targets: []v1alpha1.TargetImport{{Name: "clusters", Targets: []string{"a", "b"}}},
	}
	_, err := Read(t.Context(), inst, shelf{})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		`spec.imports.data[0].dataRef: import size: there is no DataObject "ghost" in namespace space`,
		`spec.imports.targets[0].targets: import clusters: there is no Target "a"`, `there is no Target "b"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	inst.Spec.Imports.Data[0].DataRef = "broken"
	if _, err := Read(t.Context(), inst, shelf{}); err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("another error is not that of a missing object: %v", err)
	}
}

// concealed is a shelf whose values come from Secrets.
type concealed struct{ shelf }

func (c concealed) Data(ctx context.Context, object Object) (DataImport, error) {
	found, err := c.shelf.Data(ctx, object)
	found.Salt = "uid-of-secret"
	return found, err
}

// TestForeignCopies: the name of a copy can be worked out, and what it holds was imported from a
// Secret by another Installation.
func TestForeignCopies(t *testing.T) {
	const refused = "a copy of what another Installation imports from a Secret"
	copied := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("other"), "password")
	own := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "password")
	values := shelf{data: map[string]string{copied: `"x"`, own: `"y"`}}
	for _, test := range []struct {
		reason, parent, dataRef string
		objects                 Objects
		refused                 string
	}{
		{"the import of the parent, which comes from a Secret", "shop", "password", concealed{values}, ""},
		{"the copy of another Installation by its name", "shop", "#" + copied, concealed{values}, refused},
		{"a value that comes from no Secret, by its name", "shop", "#" + copied, values, ""},
		{"a root: its user may read the Secret as well", "", "#" + copied, concealed{values}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "space"}}
			if test.parent != "" {
				inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: test.parent}}
			}
			inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "value", DataRef: test.dataRef}}
			_, err := Read(t.Context(), inst, test.objects)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), "import value")) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}
