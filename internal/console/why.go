package console

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Why is the page that says why an object is not ready.
type Why struct {
	Frame
	// Missing says that there is no such object; then there is nothing else.
	Missing bool `json:"missing,omitempty"`
	Object
	// Above is what it is a part of, the root first.
	Above []Object `json:"above,omitempty"`
	// Ways lead from the object to what keeps it from being ready; More is how many others there are.
	Ways [][]Step `json:"ways,omitempty"`
	More int      `json:"more,omitempty"`
	// Works are the objects that are at work, if nothing is wrong.
	Works []Object `json:"works,omitempty"`
}

// Step is a hop with what connects it with the hop before, and what is known about its reason.
type Step struct {
	Hop
	// Values are those that the hop before waits for; none if it waits for the end of an item.
	Values []string `json:"values,omitempty"`
	// Reason is the short word that the object publishes, with what it means and what to do.
	Reason  string `json:"reason,omitempty"`
	Meaning string `json:"meaning,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	// Operation, Codes and ErrorTime are of the last error.
	Operation string       `json:"operation,omitempty"`
	Codes     []string     `json:"codes,omitempty"`
	ErrorTime *metav1.Time `json:"errorTime,omitempty"`
	// Target is the one that an item deploys to.
	Target *TargetLine `json:"target,omitempty"`
}

// mostWays is how many ways the page has.
const mostWays = 20

// why returns the page of an object.
func (s *state) why(key valueKey) Why {
	view := Why{Frame: s.frame()}
	node := s.nodes[key]
	if node == nil {
		view.Missing, view.Kind, view.Namespace, view.Name = true, inspect.Kind(key.kind), key.namespace, key.name
		return view
	}
	view.Object, view.Above = s.object(node), s.lineage(node)
	causes, blockers := inspect.Causes(node), inspect.Blockers(node)
	if len(causes) == 0 && len(blockers) == 0 && !node.Ready {
		// Its parent says why it has not got the job, unless it is the object that was asked for.
		causes = []inspect.Cause{{Node: node}}
	}
	view.More = max(0, len(causes)-mostWays)
	for _, cause := range causes[:len(causes)-view.More] {
		view.Ways = append(view.Ways, s.steps(s.way(node, cause)))
	}
	if len(causes) == 0 {
		for _, blocker := range blockers {
			view.Works = append(view.Works, s.object(blocker))
		}
		view.Works = view.Works[:min(len(view.Works), mostWays)]
	}
	return view
}

func (s *state) steps(way []Hop) []Step {
	steps := make([]Step, len(way))
	for i, hop := range way {
		step := Step{Hop: hop}
		node := s.nodes[valueKey{string(hop.Kind), hop.Namespace, hop.Name}]
		if hop.Beside {
			step.Values = s.valuesBetween(node, s.nodes[valueKey{string(way[i-1].Kind), way[i-1].Namespace, way[i-1].Name}])
		}
		// Objects on the way only repeat what is at its end.
		if node != nil && (i == len(way)-1 || way[i+1].Beside) {
			s.explain(&step, node)
		}
		steps[i] = step
	}
	return steps
}

// explain adds what is known of the end of a way.
func (s *state) explain(step *Step, node *inspect.Node) {
	step.Reason = node.Reason
	if last := node.LastError; last != nil {
		step.Reason = cmp.Or(last.Reason, step.Reason)
		step.Operation, step.ErrorTime = last.Operation, &last.LastUpdateTime
		for _, code := range last.Codes {
			step.Codes = append(step.Codes, string(code))
		}
	}
	if explained, known := reasons.Explain(step.Reason); known {
		step.Meaning, step.Remedy = explained.Meaning, explained.Remedy
	}
	if node.Target != "" {
		line := s.targetLine(node.Namespace, node.Target)
		step.Target = &line
	}
}

// valuesBetween are the names of what an Installation imports that another one exports.
func (s *state) valuesBetween(exporter, importer *inspect.Node) []string {
	if exporter == nil || importer == nil || exporter.Installation == nil || importer.Installation == nil {
		return nil
	}
	var names []string
	for _, value := range flowview.Of([]*inspect.Node{exporter, importer}).Values {
		if slices.Contains(value.Exporters, exporter.Name) && slices.Contains(value.Importers, importer.Name) {
			names = append(names, value.Name)
		}
	}
	return names
}

// itemBefore returns the first item that comes before an item and is not done.
func (s *state) itemBefore(node *inspect.Node, before []string) *inspect.Node {
	parent := s.above[node]
	if parent == nil {
		return nil
	}
	for _, other := range parent.Children {
		if other != node && other.DeployItem != nil && slices.Contains(before, other.TemplateName) {
			return other
		}
	}
	return nil
}
