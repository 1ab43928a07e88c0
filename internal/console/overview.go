package console

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
)

// shown is how many rows a list has.
const shown = 200

// Overview is the first page.
type Overview struct {
	Frame
	// Counts says how many roots are in each state.
	Counts map[inspect.State]int `json:"counts"`
	// Rows are the roots, or what was found; More is how many others there are.
	Rows []Row `json:"rows"`
	More int   `json:"more,omitempty"`
}

// Frame is what all pages have.
type Frame struct {
	// Where names the cluster.
	Where string `json:"where"`
	// Scope is the namespace that is shown; empty for all.
	Scope string `json:"scope,omitempty"`
	// Limited says that the visitor may not list the Installations of all namespaces.
	Limited bool `json:"limited,omitempty"`
	// Notes say what is wrong with what is shown.
	Notes []string `json:"notes,omitempty"`
}

// Object is an object on a page, in the words of package inspect.
type Object struct {
	Kind      inspect.Kind  `json:"kind"`
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	State     inspect.State `json:"state"`
	// Standing is the phase, or what stands in place of one, and Since its time.
	Standing string       `json:"standing,omitempty"`
	Since    *metav1.Time `json:"since,omitempty"`
	// Page is the Installation whose page has the object.
	Page string `json:"page"`
}

// Row is a line of the overview.
type Row struct {
	Object
	// Component and Version are what an Installation is of.
	Component string `json:"component,omitempty"`
	Version   string `json:"version,omitempty"`
	// Why says what a tree waits for, or what is wrong in it.
	Why string `json:"why,omitempty"`
	// Found says where the text of a search is.
	Found string `json:"found,omitempty"`
}

func (s *state) frame() Frame {
	return Frame{Where: s.options.Where, Scope: s.options.Namespace, Limited: s.options.limited, Notes: s.notes}
}

func (s *state) object(node *inspect.Node) Object {
	page := node
	for page.Installation == nil && s.above[page] != nil {
		page = s.above[page]
	}
	return Object{
		Kind: node.Kind, Namespace: node.Namespace, Name: node.Name, Title: cmp.Or(node.TemplateName, node.Name),
		State: node.State, Standing: node.Standing(), Since: node.Since(), Page: page.Name,
	}
}

func (s *state) row(node *inspect.Node) Row {
	row := Row{Object: s.object(node)}
	row.Component, row.Version = componentOf(node.Installation)
	if causes := inspect.Causes(node); len(causes) > 0 {
		row.Why = causes[0].String()
	} else {
		row.Why = node.Why()
	}
	return row
}

func componentOf(installation *v1alpha1.Installation) (name, version string) {
	if installation == nil || installation.Spec.ComponentDescriptor == nil || installation.Spec.ComponentDescriptor.Reference == nil {
		return "", ""
	}
	reference := installation.Spec.ComponentDescriptor.Reference
	return reference.ComponentName, reference.Version
}

// urgency orders the states: what needs attention comes first.
var urgency = []inspect.State{inspect.Failed, inspect.Stalled, inspect.Missing, inspect.Waiting, inspect.Running, inspect.Ready}

// overview returns the first page, with the roots, or with what has a text.
func (s *state) overview(text string) Overview {
	o := Overview{Frame: s.frame(), Counts: map[inspect.State]int{}, Rows: []Row{}}
	for _, root := range s.forest {
		o.Counts[root.State]++
	}
	nodes, places := s.forest, map[*inspect.Node]string{}
	if text = strings.ToLower(strings.TrimSpace(text)); text != "" {
		nodes, places = s.find(text)
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b *inspect.Node) int {
		return slices.Index(urgency, a.State) - slices.Index(urgency, b.State)
	})
	o.More = max(0, len(nodes)-shown)
	for _, node := range nodes[:len(nodes)-o.More] {
		row := s.row(node)
		row.Found = places[node]
		o.Rows = append(o.Rows, row)
	}
	return o
}

// find returns the objects that have a text in their names, component, version, Target, or in the
// names of their imports and exports, and where.
func (s *state) find(text string) (found []*inspect.Node, places map[*inspect.Node]string) {
	places = map[*inspect.Node]string{}
	for _, root := range s.forest {
		root.Walk(func(node *inspect.Node) {
			for _, place := range s.texts(node) {
				if strings.Contains(strings.ToLower(place[1]), text) {
					found, places[node] = append(found, node), place[0]+" "+place[1]
					return
				}
			}
		})
	}
	return found, places
}

// texts are what an object can be found by: what each one is, and the text.
func (s *state) texts(node *inspect.Node) [][2]string {
	texts := [][2]string{{string(node.Kind), node.Name}, {"named", node.TemplateName}, {"in namespace", node.Namespace}, {"on Target", node.Target}}
	if node.Installation == nil {
		return texts
	}
	component, version := componentOf(node.Installation)
	texts = append(texts, [2]string{"component", component}, [2]string{"version", version})
	alone := *node
	alone.Children = nil
	for _, value := range flowview.Of([]*inspect.Node{&alone}).Values {
		verb := "imports"
		if !value.Outside() {
			verb = "exports"
		}
		texts = append(texts, [2]string{verb, value.Name})
	}
	return texts
}
