package assistant

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/picture"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// addLooks gives the server the tools that read objects of the resource cluster.
func (s *server) addLooks(to *mcp.Server) {
	add(to, lookLimit, mcp.Tool{
		Name: "list_installations", Annotations: reads("List Installations"),
		Description: "Lists root Installations with their phase, state and the reason why they are not ready. Start here. States: Ready, Running, Waiting (for something that is named), Failed, Stalled (until a user changes something).",
	}, s.list)
	add(to, lookLimit, mcp.Tool{
		Name: "show_tree", Annotations: reads("Show a tree"),
		Description: "Shows an Installation with its subinstallations, Executions and DeployItems, parents first; depth tells what belongs to what. With troubled_only, only what has failed, does not go on or has warnings, and the way to it.",
	}, s.tree)
	add(to, lookLimit, mcp.Tool{
		Name: "explain_why", Annotations: reads("Explain why"),
		Description: "Explains why an Installation is not ready: the objects at which something is wrong or waits, worst first, each with what its reason means and what to do. Of an Installation that is at work and has no problem, it names what works.",
	}, s.why)
	add(to, lookLimit, mcp.Tool{
		Name: "show_last_job", Annotations: reads("Show the last job"),
		Description: "Tells step by step what the last job of an Installation did, oldest first, from the statuses and events of all that belongs to it.",
	}, s.lastJob)
	add(to, lookLimit, mcp.Tool{
		Name: "list_events", Annotations: reads("List events"),
		Description: "Lists the Kubernetes events of an Installation and of all that belongs to it, oldest first. API servers keep events for about an hour.",
	}, s.events)
	add(to, lookLimit, mcp.Tool{
		Name: "list_jobs", Annotations: reads("List jobs"),
		Description: "Lists the jobs that an Installation records, newest first: what started each, how it ended, and the generation, component version and fingerprint of imports that it worked on. Jobs with equal fingerprints had equal imports.",
	}, s.jobs)
	add(to, lookLimit, mcp.Tool{
		Name: "compare_jobs", Annotations: reads("Compare jobs"),
		Description: "Compares two jobs of an Installation: what each worked on (generation, component version, imports by fingerprint), how they ended, and the subinstallations in which something differs. Without jobs: the last two.",
	}, s.compare)
	add(to, lookLimit, mcp.Tool{
		Name: "show_data_flow", Annotations: reads("Show the flow of values"),
		Description: "Shows which Installation exports what and which one imports it, by names; values are not shown. Without a name: the roots of the namespace; with one: that Installation and what is inside.",
	}, s.flow)
	addReasons(to)
}

type listQuestion struct {
	place

	AllNamespaces bool   `json:"all_namespaces,omitempty" jsonschema:"list all namespaces; needs the right to do so"`
	Contains      string `json:"contains,omitempty" jsonschema:"only Installations whose namespace/name has this text in it"`
	TroubledOnly  bool   `json:"troubled_only,omitempty" jsonschema:"only what has failed, does not go on or has warnings"`
	Limit         int    `json:"limit,omitempty" jsonschema:"how many to list at most: 1 to 500, by default 100"`
}

// object is an object in an answer.
type object struct {
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name"`
	TemplateName string `json:"templateName,omitempty"`
	Target       string `json:"target,omitempty"`
	Phase        string `json:"phase,omitempty"`
	State        string `json:"state"`
	Since        string `json:"since,omitempty"`
	Reason       string `json:"reason,omitempty"`
	Why          string `json:"why,omitempty"`
	Warnings     string `json:"warnings,omitempty"`
	Depth        int    `json:"depth,omitempty"`
}

func objectOf(node *inspect.Node, left *budget) object {
	return object{
		Kind: string(node.Kind), Namespace: node.Namespace, Name: left.text(node.Name), TemplateName: left.text(node.TemplateName),
		Target: left.text(node.Target), Phase: left.text(node.Standing()), State: string(node.State), Since: moment(node.Since()),
		Reason: left.text(node.Reason), Why: left.text(node.Why()), Warnings: left.text(node.Warnings),
	}
}

func moment(at *metav1.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// objects are those of an answer. More is how many others there are.
type objects struct {
	Objects    []object `json:"objects"`
	More       int      `json:"more,omitempty" jsonschema:"how many others there are that the answer has no space for"`
	Incomplete []string `json:"incomplete,omitempty" jsonschema:"what could not be read, usually for lack of permissions"`
}

func (s *server) list(ctx context.Context, in listQuestion) (objects, error) {
	limit, err := limited(in.Limit, 100, 500)
	if err != nil {
		return objects{}, err
	}
	on, err := s.at(in.place)
	if err != nil {
		return objects{}, err
	}
	scope := on.Namespace
	if in.AllNamespaces {
		scope = ""
	}
	snapshot, err := reading.Collect(ctx, on.Client, scope)
	if err != nil {
		return objects{}, on.Explain(err)
	}
	roots := inspect.Forest(snapshot)
	if in.TroubledOnly {
		roots = inspect.Troubled(roots)
	}
	roots = slices.DeleteFunc(roots, func(root *inspect.Node) bool {
		return !strings.Contains(root.Namespace+"/"+root.Name, in.Contains)
	})
	out, left := objects{Objects: []object{}, Incomplete: unreadable(snapshot)}, newBudget()
	for _, root := range roots {
		if len(out.Objects) == limit || !left.entry() {
			break
		}
		out.Objects = append(out.Objects, objectOf(root, left))
	}
	out.More = len(roots) - len(out.Objects)
	return out, nil
}

type treeQuestion struct {
	installation

	TroubledOnly bool `json:"troubled_only,omitempty" jsonschema:"only what has failed, does not go on or has warnings, and the way to it"`
	Limit        int  `json:"limit,omitempty" jsonschema:"how many objects to show at most: 1 to 1000, by default 200"`
}

func (s *server) tree(ctx context.Context, in treeQuestion) (objects, error) {
	limit, err := limited(in.Limit, 200, 1000)
	if err != nil {
		return objects{}, err
	}
	tree, snapshot, err := s.read(ctx, in.installation)
	if err != nil {
		return objects{}, err
	}
	trees := []*inspect.Node{tree}
	if in.TroubledOnly {
		trees = inspect.Troubled(trees)
	}
	out, left := objects{Objects: []object{}, Incomplete: unreadable(snapshot)}, newBudget()
	var visit func(node *inspect.Node, depth int)
	visit = func(node *inspect.Node, depth int) {
		if len(out.Objects) < limit && out.More == 0 && left.entry() {
			found := objectOf(node, left)
			found.Depth = depth
			out.Objects = append(out.Objects, found)
		} else {
			out.More++
		}
		for _, child := range node.Children {
			visit(child, depth+1)
		}
	}
	for _, tree := range trees {
		visit(tree, 0)
	}
	return out, nil
}

type storyQuestion struct {
	installation

	WarningsOnly bool `json:"warnings_only,omitempty" jsonschema:"only entries of the type Warning"`
	Limit        int  `json:"limit,omitempty" jsonschema:"how many entries to show at most, the newest of them: 1 to 500, by default 100"`
}

// story is what happened.
type story struct {
	Entries    []entry  `json:"entries"`
	Earlier    int      `json:"earlier,omitempty" jsonschema:"how many earlier entries the answer has no space for"`
	Incomplete []string `json:"incomplete,omitempty" jsonschema:"what could not be read, usually for lack of permissions"`
}

type entry struct {
	Time    string `json:"time"`
	Object  string `json:"object"`
	Warning bool   `json:"warning,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Count   int32  `json:"count,omitempty"`
}

func (s *server) lastJob(ctx context.Context, in storyQuestion) (story, error) {
	return s.story(ctx, in, inspect.Story)
}

func (s *server) events(ctx context.Context, in storyQuestion) (story, error) {
	return s.story(ctx, in, inspect.EventsOf)
}

func (s *server) story(ctx context.Context, in storyQuestion, of func(*inspect.Node, []*corev1.Event) []inspect.Entry) (story, error) {
	limit, err := limited(in.Limit, 100, 500)
	if err != nil {
		return story{}, err
	}
	tree, snapshot, err := s.read(ctx, in.installation, reading.Events)
	if err != nil {
		return story{}, err
	}
	all := of(tree, snapshot.Events)
	if in.WarningsOnly {
		all = slices.DeleteFunc(all, func(e inspect.Entry) bool { return e.Type != corev1.EventTypeWarning })
	}
	out, left := story{Entries: []entry{}, Incomplete: unreadable(snapshot)}, newBudget()
	// The newest count: the budget is spent from the end.
	for _, e := range slices.Backward(all) {
		if len(out.Entries) == limit || !left.entry() {
			break
		}
		out.Entries = append(out.Entries, entry{
			Time: e.Time.UTC().Format(time.RFC3339), Object: left.text(string(e.Kind) + " " + e.Name), Warning: e.Type == corev1.EventTypeWarning,
			Reason: left.text(e.Reason), Message: left.text(e.Message), Count: e.Count,
		})
	}
	slices.Reverse(out.Entries)
	out.Earlier = len(all) - len(out.Entries)
	return out, nil
}

type flowQuestion struct {
	place

	Name string `json:"name,omitempty" jsonschema:"the name of an Installation; if absent, the roots of the namespace are shown"`
}

// flowAnswer is the flow of values as a text.
type flowAnswer struct {
	Text       string   `json:"text" jsonschema:"a line for each Installation with its phase; below it what it imports (from) and exports (to)"`
	Incomplete []string `json:"incomplete,omitempty" jsonschema:"what could not be read, usually for lack of permissions"`
}

func (s *server) flow(ctx context.Context, in flowQuestion) (flowAnswer, error) {
	var nodes []*inspect.Node
	var snapshot inspect.Snapshot
	if in.Name != "" {
		tree, read, err := s.read(ctx, installation(in))
		if err != nil {
			return flowAnswer{}, err
		}
		nodes, snapshot = []*inspect.Node{tree}, read
	} else {
		on, err := s.at(in.place)
		if err != nil {
			return flowAnswer{}, err
		}
		if snapshot, err = reading.Collect(ctx, on.Client, on.Namespace); err != nil {
			return flowAnswer{}, on.Explain(err)
		}
		nodes = inspect.Forest(snapshot)
	}
	var text strings.Builder
	if err := picture.Text(&text, flowview.Of(nodes), false); err != nil {
		return flowAnswer{}, err
	}
	return flowAnswer{Text: lines(text.String()), Incomplete: unreadable(snapshot)}, nil
}
