package console

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// ObjectPage is the page of any object: its YAML, and its events.
type ObjectPage struct {
	Frame
	// Missing says that there is no such object; then there is nothing else.
	Missing bool `json:"missing,omitempty"`
	Object
	Why string `json:"why,omitempty"`
	// Above is what it is a part of, the root first.
	Above []Object `json:"above,omitempty"`
	// Conditions are what it publishes.
	Conditions []v1alpha1.Condition `json:"conditions,omitempty"`
	// Errors are what a TargetSync has found in its last synchronisation.
	Errors []string `json:"errors,omitempty"`
	// YAML is the object without what may be secret; Cut says that it is the beginning only, and
	// Partial that what the object holds is not read.
	YAML    string `json:"yaml,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Partial bool   `json:"partial,omitempty"`
	// Events are what happened to it, the newest first.
	Events []inspect.Entry `json:"events,omitempty"`
}

// objectPage returns the page of an object.
func (s *state) objectPage(key valueKey) ObjectPage {
	view := ObjectPage{Frame: s.frame()}
	view.Kind, view.Namespace, view.Name, view.Title = inspect.Kind(key.kind), key.namespace, key.name, key.name
	if node := s.nodes[key]; node != nil && node.Object() != nil {
		s.fillNode(&view, node)
	} else if object := s.beside(key); object != nil {
		s.fillObject(&view, object)
	} else {
		view.Missing = true
	}
	slices.Reverse(view.Events)
	view.Events = view.Events[:min(len(view.Events), shown)]
	return view
}

// fillNode fills the page of an object of a tree.
func (s *state) fillNode(view *ObjectPage, node *inspect.Node) {
	view.Object, view.Above, view.Why = s.object(node), s.lineage(node), node.Why()
	alone := *node
	alone.Children = nil
	view.Events = inspect.EventsOf(&alone, s.snapshot.Events)
	switch {
	case node.Installation != nil:
		view.Conditions = node.Installation.Status.Conditions
	case node.Execution != nil:
		view.Conditions = node.Execution.Status.Conditions
	case node.DeployItem != nil:
		view.Conditions = node.DeployItem.Status.Conditions
	}
	s.write(view, node.Object())
}

// lineage is what an object is a part of, the root first.
func (s *state) lineage(node *inspect.Node) []Object {
	var lineage []Object
	for above := s.above[node]; above != nil; above = s.above[above] {
		lineage = append(lineage, s.object(above))
	}
	slices.Reverse(lineage)
	return lineage
}

// beside returns an object that is in no tree, or nil.
func (s *state) beside(key valueKey) metav1.Object {
	if key.kind == "TargetSync" {
		for _, sync := range s.snapshot.TargetSyncs {
			if sync.Namespace == key.namespace && sync.Name == key.name {
				return sync
			}
		}
		return nil
	}
	for _, value := range s.snapshot.Values {
		if value.Kind == key.kind && value.Namespace == key.namespace && value.Name == key.name {
			return value
		}
	}
	if original := s.targeting().originals[key]; original != nil {
		return original
	}
	return nil
}

func (s *state) fillObject(view *ObjectPage, object metav1.Object) {
	view.Name, view.Events = object.GetName(), inspect.EventsOfObject(view.Kind, object, s.snapshot.Events)
	if sync, ok := object.(*v1alpha1.TargetSync); ok {
		view.State, view.Why = inspect.TargetSyncState(sync)
		view.Conditions, view.Errors = sync.Status.Conditions, sync.Status.LastErrors
	} else {
		view.Partial = true
	}
	s.write(view, object)
}

// most is how long the YAML of a page is.
const most = 256 << 10

func (s *state) write(view *ObjectPage, object metav1.Object) {
	text, err := concealer{salt: s.options.salt}.yaml(object)
	if err != nil {
		view.Notes = append(slices.Clip(view.Notes), "the object cannot be shown: "+err.Error())
		return
	}
	if len(text) > most {
		text, view.Cut = text[:most], true
		if end := strings.LastIndexByte(text, '\n'); end > 0 {
			text = text[:end+1]
		}
		text = strings.ToValidUTF8(text, "")
	}
	view.YAML = text
}
