package apply

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func manyObjects(count int) []Object {
	objects := make([]Object, count)
	for i := range objects {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		object.SetNamespace("shop")
		object.SetName(fmt.Sprint("c-", i))
		objects[i] = Object{Entry: Entry{Object: object}}
	}
	return objects
}

// work is what a job does with the inventory of so many objects.
func work(objects []Object) {
	inventory := Inventory(nil).With(objects).With(objects)
	uids := map[Key]types.UID{}
	for i, object := range objects {
		uids[KeyOf(object.Reference())] = types.UID(fmt.Sprint("uid-", i))
	}
	inventory = inventory.WithUIDs(uids)
	orphans := inventory.Orphans(objects[:len(objects)/2])
	_ = inventory.Without(orphans.References()...)
}

// TestInventoryGrows: four times as many objects take about four times as much memory, and not sixteen
// times.
func TestInventoryGrows(t *testing.T) {
	allocated := func(count int) int64 {
		objects := manyObjects(count)
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				work(objects)
			}
		}).AllocedBytesPerOp()
	}
	few, many := allocated(250), allocated(4000)
	t.Logf("250 objects: %d KiB, 4000 objects: %d KiB", few>>10, many>>10)
	if many > 40*few {
		t.Errorf("16 times as many objects take %d times as much", many/few)
	}
}

func BenchmarkInventory(b *testing.B) {
	for _, count := range []int{1000, 4000} {
		objects := manyObjects(count)
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				work(objects)
			}
		})
	}
}
