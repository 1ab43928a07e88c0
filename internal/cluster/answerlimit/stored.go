package answerlimit

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// MaxStored is what the objects that one watch keeps may take in memory.
const MaxStored = 96 << 20

// Stored books what a watch keeps.
type Stored struct {
	budget *Budget
	// free is what is not booked.
	free int64

	mutex sync.Mutex
	sizes map[string]int64
	// total is what is kept, taken the booked part of it.
	total, taken int64
	ended        bool
}

// NewStored returns the empty account of a watch.
func NewStored(budget *Budget) *Stored {
	return &Stored{budget: budget, free: free, sizes: make(map[string]int64)}
}

// NewBooked returns the empty account of a watch of which everything is booked.
func NewBooked(budget *Budget) *Stored {
	return &Stored{budget: budget, sizes: make(map[string]int64)}
}

// Put books an object instead of its former version.
func (s *Stored) Put(object any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	size := SizeOf(object) + int64(len(key))
	if err := s.change(size - s.sizes[key]); err != nil {
		return err
	}
	s.sizes[key] = size
	return nil
}

// Drop books the deletion of an object.
func (s *Stored) Drop(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Releasing memory never fails.
	_ = s.change(-s.sizes[key])
	delete(s.sizes, key)
}

// change books the part above the free share.
func (s *Stored) change(by int64) error {
	if s.ended {
		return nil
	}
	total := s.total + by
	if by > 0 && total > s.budget.Each {
		return &TooLarge{What: "what it lists"}
	}
	wanted := max(0, total-s.free)
	if wanted > s.taken && !s.budget.take(wanted-s.taken) {
		return Busy{}
	}
	if wanted < s.taken {
		s.budget.give(s.taken - wanted)
	}
	s.total, s.taken = total, wanted
	return nil
}

// End gives everything back.
func (s *Stored) End() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.budget.give(s.taken)
	s.taken, s.ended = 0, true
}

// SizeOf estimates what an object takes in memory.
func SizeOf(object any) int64 {
	switch object := object.(type) {
	case *unstructured.Unstructured:
		return outerCost + SizeOfValue(object.Object)
	case *metav1.PartialObjectMetadata:
		// The items of a list keep the kind that the cluster sends, of any length.
		return outerCost + int64(len(object.Kind)+len(object.APIVersion)) + sizeOfMetadata(&object.ObjectMeta)
	}
	return outerCost
}

// SizeOfValue estimates what a decoded value takes in memory.
func SizeOfValue(value any) int64 {
	size := int64(valueCost)
	switch value := value.(type) {
	case string:
		size += int64(len(value))
	case []any:
		for _, element := range value {
			size += SizeOfValue(element)
		}
	case map[string]any:
		for key, field := range value {
			size += int64(len(key)) + valueCost + SizeOfValue(field)
		}
	}
	return size
}

func sizeOfMetadata(meta *metav1.ObjectMeta) int64 {
	size := int64(len(meta.Name) + len(meta.Namespace) + len(meta.UID) + len(meta.ResourceVersion) + len(meta.GenerateName))
	size += int64(len(meta.SelfLink)) //nolint:staticcheck // API servers do not fill it any more, but an attacker may
	for _, texts := range []map[string]string{meta.Labels, meta.Annotations} {
		for key, text := range texts {
			size += int64(len(key)+len(text)) + 2*valueCost
		}
	}
	for _, finalizer := range meta.Finalizers {
		size += int64(len(finalizer)) + valueCost
	}
	for _, owner := range meta.OwnerReferences {
		size += int64(len(owner.Name)+len(owner.Kind)+len(owner.APIVersion)+len(owner.UID)) + 2*valueCost
	}
	return size
}
