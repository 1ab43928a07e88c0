package dataflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
)

// counting counts what is read.
type counting struct {
	shelf
	reads map[string]int
}

func (c counting) Data(ctx context.Context, object Object) (DataImport, error) {
	c.reads[string(object.Kind)+" "+object.Name+" "+object.Key]++
	return c.shelf.Data(ctx, object)
}

func (c counting) Target(ctx context.Context, object Object) (*v1alpha1.Target, error) {
	c.reads["Target "+object.Name]++
	return c.shelf.Target(ctx, object)
}

func (c counting) Targets(ctx context.Context, namespace string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	c.reads["Targets"]++
	return c.shelf.Targets(ctx, namespace, selector)
}

// multiplied imports a Target, a DataObject and a Secret many times each, and a list
// of many elements.
func multiplied(times, size int) (*v1alpha1.Installation, counting) {
	inst := &v1alpha1.Installation{}
	list := make([]string, times)
	for i := range times {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data,
			v1alpha1.DataImport{Name: fmt.Sprint("d", i), DataRef: "large"},
			v1alpha1.DataImport{Name: fmt.Sprint("s", i), SecretRef: secretReference("large")})
		inst.Spec.Imports.Targets = append(inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: fmt.Sprint("t", i), Target: "large"})
		list[i] = "large"
	}
	inst.Spec.Imports.Targets = append(inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: "list", Targets: list})
	value := `"` + strings.Repeat("x", size) + `"`
	target := &v1alpha1.Target{}
	target.Name, target.Spec.Type = "large", "example.org/x"
	target.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(value))
	return inst, counting{shelf{data: map[string]string{"large": value}, targets: map[string]*v1alpha1.Target{"large": target}}, map[string]int{}}
}

// TestEachObjectIsReadOnce: imports of one object share what was read.
func TestEachObjectIsReadOnce(t *testing.T) {
	inst, objects := multiplied(100, 1000)
	imports, err := Read(t.Context(), inst, objects)
	if err != nil {
		t.Fatal(err)
	}
	for object, reads := range objects.reads {
		if reads != 1 {
			t.Errorf("%s is read %d times", object, reads)
		}
	}
	if len(objects.reads) != 3 || len(imports.Data) != 200 || len(imports.Targets) != 100 || len(imports.TargetLists["list"]) != 100 {
		t.Errorf("%v, %d", objects.reads, len(imports.Data))
	}
	if imports.Targets["t0"] != imports.TargetLists["list"][99] || &imports.Data["d0"].Value.RawMessage[0] != &imports.Data["d99"].Value.RawMessage[0] {
		t.Error("values are copied")
	}
}

// TestValuesAreShared counts what the plain values of a hundred imports of one large
// Target cost: not a hundred times one.
func TestValuesAreShared(t *testing.T) {
	inst, objects := multiplied(100, 100_000)
	var definitions v1alpha1.ImportDefinitionList
	for i := range 100 {
		definitions = append(definitions, importDefinition(fmt.Sprint("t", i), v1alpha1.ImportTypeTarget), importDefinition(fmt.Sprint("d", i), v1alpha1.ImportTypeData))
	}
	imports, err := ReadWithin(t.Context(), Limits{Imports: 1000, Elements: 1000, Bytes: 1 << 30}, inst, objects)
	if err != nil {
		t.Fatal(err)
	}
	anything := func(context.Context, v1alpha1.JSONSchemaDefinition) (Validator, error) { return accepting{}, nil }
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := Construct(b.Context(), "inst", definitions, imports, Mapped{}, anything); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got, most := result.AllocedBytesPerOp(), int64(30*100_000); got > most {
		t.Errorf("%d bytes, at most %d", got, most)
	}
}

type accepting struct{}

func (accepting) Validate(any) error { return nil }

func importDefinition(name string, kind v1alpha1.ImportType) v1alpha1.ImportDefinition {
	definition := v1alpha1.ImportDefinition{Type: kind}
	definition.Name, definition.TargetType = name, "example.org/x"
	if kind == v1alpha1.ImportTypeData {
		definition.Schema = &v1alpha1.JSONSchemaDefinition{RawMessage: []byte("{}")}
	}
	return definition
}

// TestLimits: an import beyond a limit ends the reading, and the message names the limit.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		reason string
		limits Limits
		want   string
	}{
		{"just enough", Limits{Imports: 7, Elements: 8, Bytes: 8*102 + 100}, ""},
		{"too many imports", Limits{Imports: 6, Elements: 8, Bytes: 1 << 20}, "spec.imports.targets[2].targets: import list: with it the Installation imports more than 6 values: import less, or distribute it over several Installations"},
		{"too many elements", Limits{Imports: 7, Elements: 7, Bytes: 1 << 20}, "spec.imports.targets[2].targets: import list: with it the Installation imports more than 7 objects"},
		{"too many bytes", Limits{Imports: 7, Elements: 8, Bytes: 300}, "spec.imports.data[2].dataRef: import d1: with it the Installation imports more than 300 bytes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst, objects := multiplied(2, 100)
			_, err := ReadWithin(t.Context(), test.limits, inst, objects)
			var limit *LimitError
			if errors.As(err, &limit) != (test.want != "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestMultipliedTarget: an Installation of 1.5 KB that names one Target of 900 KB 150
// times was worth half a gigabyte.
func TestMultipliedTarget(t *testing.T) {
	inst, objects := multiplied(150, 900_000)
	inst.Spec.Imports.Data = nil
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			var limit *LimitError
			if _, err := Read(b.Context(), inst, objects); !errors.As(err, &limit) || limit.What != "bytes" {
				b.Fatal(err)
			}
		}
	})
	// Under the race detector texts are copied that are shared otherwise: 6 MB. Without
	// the limit it is 135 MB and more.
	if got := result.AllocedBytesPerOp(); got > 16<<20 {
		t.Errorf("%d bytes", got)
	}
}

func secretReference(name string) *v1alpha1.ImportSecretReference {
	reference := &v1alpha1.ImportSecretReference{}
	reference.Name = name
	return reference
}
