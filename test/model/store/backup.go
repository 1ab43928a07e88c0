package store

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Backup is what a store had at a time.
type Backup struct {
	objects map[Kind]map[types.NamespacedName]client.Object
	Version int
}

// Backup copies the store. Objects are never changed in it, only replaced.
func (s *Store) Backup() Backup {
	b := Backup{objects: map[Kind]map[types.NamespacedName]client.Object{}, Version: s.Version}
	for k, objects := range s.Objects {
		b.objects[k] = maps.Clone(objects)
	}
	return b
}

// Restore puts the store back to a backup.
func (s *Store) Restore(b Backup) { s.Objects, s.Version = b.objects, b.Version }
