package assistant

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/requests"
)

// addWrites gives the server the tools that change something. Each takes two calls: the first one says
// what would happen, and the second one has to repeat what that was about.
func (s *server) addWrites(to *mcp.Server) {
	yes := true
	writes := func(title string) *mcp.ToolAnnotations {
		return &mcp.ToolAnnotations{Title: title, DestructiveHint: &yes, OpenWorldHint: &yes}
	}
	add(to, s.planLimit, mcp.Tool{
		Name: "start_job", Annotations: writes("Start a job"),
		Description: "Starts a job of a root Installation, in two calls. The first call, without digest, writes nothing and returns the plan: show it to the user. The second call, with the digest of that plan, plans again and starts the job only if the plan is still the same.",
	}, s.startJob)
	add(to, lookLimit, mcp.Tool{
		Name: "end_job", Annotations: writes("End a job"),
		Description: "Ends the running job of an Installation as failed, in two calls. The first call, without job, writes nothing and returns what would become Failed: show it to the user. The second call, with the job of that answer, ends that job.",
	}, s.endJob)
}

type startQuestion struct {
	installation

	Digest string `json:"digest,omitempty" jsonschema:"the digest of the plan that the user has agreed to; without it, nothing is written"`
}

type startAnswer struct {
	Requested bool       `json:"requested" jsonschema:"whether the job was asked for"`
	Next      string     `json:"next"`
	Remarks   []string   `json:"remarks,omitempty"`
	Plan      planAnswer `json:"plan"`
}

func (s *server) startJob(ctx context.Context, in startQuestion) (startAnswer, error) {
	tree, snapshot, err := s.read(ctx, in.installation)
	if err != nil {
		return startAnswer{}, err
	}
	if err := requests.CheckRoot(tree.Installation); err != nil {
		return startAnswer{}, err
	}
	out := startAnswer{}
	if out.Plan, err = s.plan(ctx, tree, snapshot); err != nil {
		return startAnswer{}, fmt.Errorf("nothing was started: plan the job: %w", err)
	}
	switch {
	case out.Plan.Digest == "":
		out.Next = "Nothing was started: this plan has no digest. The user can start the job with landscaper-cli."
		return out, nil
	case in.Digest == "":
		out.Next = "Nothing was started. Show the plan to the user, and call again with its digest if the user agrees."
		return out, nil
	case in.Digest != out.Plan.Digest:
		out.Next = "Nothing was started: the plan is another one now, or the digest is not that of a plan. Show this plan to the user. If it is another one each time, as with templates that use the time or random values, the user can start the job with landscaper-cli."
		return out, nil
	}
	out.Remarks, err = s.request(ctx, tree, v1alpha1.ReconcileOperation)
	if err != nil {
		return startAnswer{}, err
	}
	out.Requested, out.Next = true, "The job was requested. explain_why and show_last_job follow it."
	return out, nil
}

type endQuestion struct {
	installation

	Job string `json:"job,omitempty" jsonschema:"the job to end, from the answer to the first call; without it, nothing is written"`
}

type endAnswer struct {
	Requested bool     `json:"requested" jsonschema:"whether the end of the job was asked for"`
	Next      string   `json:"next"`
	Remarks   []string `json:"remarks,omitempty"`
	Job       string   `json:"job,omitempty" jsonschema:"the job that runs"`
	// Ends are the objects that become Failed.
	Ends []object `json:"ends"`
	More int      `json:"more,omitempty" jsonschema:"how many other objects become Failed"`
}

func (s *server) endJob(ctx context.Context, in endQuestion) (endAnswer, error) {
	tree, _, err := s.read(ctx, in.installation)
	if err != nil {
		return endAnswer{}, err
	}
	out := ends(tree)
	switch {
	case out.Job == "":
		out.Next = "No job is running: there is nothing to end."
		return out, nil
	case in.Job == "":
		out.Next = "Nothing was ended. Show the user what becomes Failed, and call again with the job if the user agrees. What a deployer is doing at this moment is not stopped."
		return out, nil
	case in.Job != tree.JobID:
		out.Next = "Nothing was ended: another job is running now. Show the user what becomes Failed, and ask again."
		return out, nil
	}
	out.Remarks, err = s.request(ctx, tree, v1alpha1.InterruptOperation)
	if err != nil {
		return endAnswer{}, err
	}
	out.Requested, out.Next = true, "The end of the job was requested."
	return out, nil
}

// ends says what an interruption does: what has not finished its job becomes Failed.
func ends(tree *inspect.Node) endAnswer {
	out, left := endAnswer{Ends: []object{}}, newBudget()
	if tree.JobID == tree.JobIDFinished {
		return out
	}
	out.Job = tree.JobID
	tree.Walk(func(node *inspect.Node) {
		switch {
		case node.Object() == nil || node.JobID == node.JobIDFinished:
		case out.More == 0 && left.entry():
			out.Ends = append(out.Ends, objectOf(node, left))
		default:
			out.More++
		}
	})
	return out
}

// request asks for an operation on the Installation that was shown.
func (s *server) request(ctx context.Context, tree *inspect.Node, operation v1alpha1.Operation) ([]string, error) {
	before, err := requests.Request(ctx, s.on.Client, client.ObjectKey{Namespace: tree.Namespace, Name: tree.Name}, operation)
	if err != nil {
		return nil, s.on.Explain(err)
	}
	return notes(requests.Remarks(before, operation)), nil
}
