package assistant

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// maxCauses bounds the causes of an answer; the worst come first.
const maxCauses = 20

// whyAnswer says why an Installation is not ready.
type whyAnswer struct {
	Ready bool   `json:"ready"`
	State string `json:"state"`
	Phase string `json:"phase,omitempty"`
	// Causes are what is wrong or waits, More how many others there are.
	Causes []cause `json:"causes"`
	More   int     `json:"more,omitempty" jsonschema:"how many other causes there are"`
	// Works are the objects that are at work, if nothing is wrong.
	Works      []object `json:"works,omitempty" jsonschema:"if nothing is wrong: the objects that are at work"`
	Incomplete []string `json:"incomplete,omitempty" jsonschema:"what could not be read, usually for lack of permissions"`
}

// cause is an object at which something is wrong, or waits.
type cause struct {
	object

	Place     string   `json:"place,omitempty" jsonschema:"where the object is below the Installation"`
	Message   string   `json:"message"`
	Meaning   string   `json:"meaning,omitempty" jsonschema:"what the reason means"`
	Remedy    string   `json:"remedy,omitempty" jsonschema:"what to do"`
	Operation string   `json:"operation,omitempty" jsonschema:"the step that failed"`
	Codes     []string `json:"codes,omitempty"`
}

func (s *server) why(ctx context.Context, in installation) (whyAnswer, error) {
	tree, snapshot, err := s.read(ctx, in)
	if err != nil {
		return whyAnswer{}, err
	}
	left := newBudget()
	out := whyAnswer{Ready: tree.Ready, State: string(tree.State), Phase: left.text(tree.Standing()), Causes: []cause{}, Incomplete: unreadable(snapshot)}
	causes, blockers := inspect.Causes(tree), inspect.Blockers(tree)
	if len(causes) == 0 && len(blockers) == 0 && !tree.Ready {
		// Its parent says why it has not got the job, unless it is the object that was asked for.
		causes = []inspect.Cause{{Node: tree}}
	}
	for _, found := range causes {
		if len(out.Causes) == maxCauses || !left.entry() {
			break
		}
		out.Causes = append(out.Causes, explained(found, left))
	}
	out.More = len(causes) - len(out.Causes)
	if len(causes) == 0 {
		for _, node := range blockers[:min(len(blockers), maxCauses)] {
			out.Works = append(out.Works, objectOf(node, left))
		}
	}
	return out, nil
}

func explained(found inspect.Cause, left *budget) cause {
	node := found.Node
	out := cause{object: objectOf(node, left), Place: left.text(found.Place()), Message: left.text(cmp.Or(found.Message, node.Why()))}
	// The message says it.
	out.Why = ""
	if last := node.LastError; last != nil {
		out.Reason, out.Operation = left.text(cmp.Or(last.Reason, node.Reason)), left.text(last.Operation)
		for _, code := range last.Codes[:min(len(last.Codes), maxNotes)] {
			out.Codes = append(out.Codes, left.text(string(code)))
		}
	}
	if meant, known := reasons.Explain(out.Reason); known {
		out.Meaning, out.Remedy = meant.Meaning, meant.Remedy
	}
	return out
}

type reasonQuestion struct {
	Reason string `json:"reason" jsonschema:"a reason as it stands in an answer, a status or an event, such as ImportsSatisfied"`
}

type reasonAnswer struct {
	Reason  string `json:"reason"`
	Meaning string `json:"meaning"`
	Remedy  string `json:"remedy,omitempty"`
}

// addReasons gives the server the table of reasons.
func addReasons(to *mcp.Server) {
	closed := false
	properties := reads("Explain a reason")
	properties.OpenWorldHint = &closed
	add(to, lookLimit, mcp.Tool{
		Name: "explain_reason", Annotations: properties,
		Description: "Explains a reason of a status, condition or event of Landscaper: what it means and what to do. Asks no cluster.",
	}, func(_ context.Context, in reasonQuestion) (reasonAnswer, error) {
		meant, known := reasons.Explain(strings.TrimSpace(in.Reason))
		if !known {
			return reasonAnswer{}, fmt.Errorf("the reason %q is not one of Landscaper: deployers of third parties have reasons of their own", cut(in.Reason, 100))
		}
		return reasonAnswer{Reason: string(meant.Reason), Meaning: meant.Meaning, Remedy: meant.Remedy}, nil
	})
}
