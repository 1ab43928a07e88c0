// Package preview works out what a job of an Installation would change on its clusters:
// the whole tree is rendered with the imports as they are, and each object is compared
// by a dry run of its API server. Then come the roots that get a job because of what the
// first one exports. Nothing is written anywhere.
package preview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/dataflow"
)

// Comparer knows the items of one type.
type Comparer interface {
	// Preview returns what a deployment of an item would make of each object on a cluster,
	// and what it would export.
	Preview(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) (rollout.Forecast, error)
	// PreviewRemoval returns what a removal of an item would make of each object.
	PreviewRemoval(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) ([]diff.Object, error)
}

// connector connects to the clusters of Targets.
type connector interface {
	Connect(ctx context.Context, target *v1alpha1.Target) (*cluster.Connection, error)
}

func (p *Previewer) maker() plan.Maker {
	if p.Maker == nil {
		return plan.Here{}
	}
	return p.Maker
}

func (p *Previewer) connector() connector {
	if p.connects != nil {
		return p.connects
	}
	return p.Clusters
}

// Previewer works out previews.
type Previewer struct {
	// Reader reads from the API server of the resource cluster.
	Reader client.Reader
	// Clusters reaches target clusters.
	Clusters *cluster.Pool
	// Components and Sources are how component versions are reached, and whose signatures count.
	Components *component.Shared
	Sources    *repocontext.Reader
	// Comparers are by the type of items; an item of another type is not compared.
	Comparers map[v1alpha1.DeployItemType]Comparer
	// Maker makes plans; nil makes them in this process.
	Maker plan.Maker
	// NamedTargets lets blueprints use any Target and Secret of the namespace by its name.
	NamedTargets bool
	// Check refuses a root that a job would refuse; nil refuses none.
	Check func(*v1alpha1.Installation) error
	// Verification says when signatures are checked; by default, if an Installation asks for it.
	Verification resolve.VerificationPolicy
	// Now is the time.
	Now func() time.Time
	// Most is how many bytes the parts of a plan may have together; 0 is no limit. TooLarge is the error
	// of a plan that has more.
	Most     int64
	TooLarge error

	// connects takes the place of Clusters in tests.
	connects connector
}

// Result is what a job would change.
type Result struct {
	// Items are the items in the order of the tree, and then those of the roots that follow.
	Items []Item `json:"items"`
	// Follows are the roots that get a job because of the exports.
	Follows []string `json:"follows,omitempty"`
	// Waiting are Installations that cannot be worked out before others have run.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Warnings tell what is probably not meant.
	Warnings []string `json:"warnings,omitempty"`
	// Summary counts the objects.
	Summary diff.Summary `json:"summary"`
	// Digest is the name of the plan, see Basis.
	Digest string `json:"digest"`

	// rendered and unknown are what Permits has.
	rendered []deliveryplan.Rendered
	unknown  []string
}

// Permits are what the job of the plan may write.
func (r *Result) Permits(root *v1alpha1.Installation, key []byte) (deliveryplan.Permits, error) {
	return deliveryplan.Sealer{Key: key, Root: root.UID, Digest: r.Digest}.Permits(r.rendered, r.unknown) // names the child
}

// Item is an item with its objects.
type Item struct {
	// Path leads from the root to the item, in the names of blueprints.
	Path string `json:"path"`
	Type string `json:"type"`
	// Target is the name of the Target.
	Target string `json:"target,omitempty"`
	// Action is what happens to the item itself.
	Action diff.Action `json:"action"`
	// Changes are its objects, also those that stay as they are.
	Changes []diff.Change `json:"changes,omitempty"`
	// Unknown tells why nothing is known about its objects.
	Unknown string `json:"unknown,omitempty"`
}

// Waiting is an Installation whose imports only a job can bring.
type Waiting struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Of works out what a job of the Installation at the top of a tree would change. The roots
// of its namespace may follow it.
func (p *Previewer) Of(ctx context.Context, tree *inspect.Node, roots []*inspect.Node) (*Result, error) {
	known := newSecrets()
	result, err := p.of(ctx, tree, roots, known)
	return result, known.conceal(err)
}

func (p *Previewer) of(ctx context.Context, tree *inspect.Node, roots []*inspect.Node, known *secrets) (*Result, error) {
	c := &comparison{Previewer: p, root: tree.Installation, live: liveTrees(append(roots[:len(roots):len(roots)], tree)), secrets: known, future: newFuture(p.Reader), known: map[string]*task{}}
	defer c.end()
	grown, err := c.grow(ctx, tree.Installation)
	var waits *waitError
	if errors.As(err, &waits) {
		c.waiting = append(c.waiting, Waiting{Path: tree.Name, Reason: waits.Error()})
		return c.named()
	}
	if err != nil {
		return nil, err
	}
	known.addTree(grown)
	c.node(grown)
	if err := c.follow(ctx, grown, roots); err != nil {
		return nil, err
	}
	c.run(ctx)
	return c.whole(ctx)
}

// whole is the result if nothing has ended the work for it: what was not asked any more would look as if
// it were unknown.
func (c *comparison) whole(ctx context.Context) (*Result, error) {
	if err := c.stopped(); err != nil {
		return nil, err // says what is too large
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the plan was not finished: %w", context.Cause(ctx))
	}
	return c.named()
}

// named is the result with its name.
func (c *comparison) named() (*Result, error) {
	result, err := c.result(), error(nil)
	result.Digest, err = c.basis().Digest()
	result.rendered, result.unknown = c.permitted()
	return result, err // says what has no digest
}

// permitted are what is rendered of the tree, without the roots that follow, and what is not.
func (c *comparison) permitted() (rendered []deliveryplan.Rendered, unknown []string) {
	if c.root == nil {
		return nil, nil
	}
	installations := map[string]*v1alpha1.Installation{}
	within := func(path string) bool { return path == c.root.Name || strings.HasPrefix(path, c.root.Name+"/") }
	for _, node := range c.nodes {
		if !within(node.Path) {
			continue
		}
		installations[node.Path] = node.Installation()
		one := deliveryplan.Rendered{Path: node.Path, Children: node.Children, Targets: node.Read().AllTargets()}
		for i, r := range node.Path + "/" {
			if r == '/' {
				// What is above a node comes before it.
				one.Lineage = append(one.Lineage, installations[node.Path[:i]])
			}
		}
		rendered = append(rendered, one)
	}
	for _, waiting := range c.waiting {
		if within(waiting.Path) {
			unknown = append(unknown, waiting.Path)
		}
	}
	return rendered, unknown
}

// grow works out the tree of a root with its imports as they would be.
func (c *comparison) grow(ctx context.Context, inst *v1alpha1.Installation) (*plan.Node, error) {
	if c.Check != nil {
		if err := c.Check(inst); err != nil {
			return nil, fmt.Errorf("a job would fail: %w", err)
		}
	}
	opener, err := c.opener(ctx, inst)
	if err != nil {
		return nil, err
	}
	c.close = append(c.close, opener.close)
	imports, err := dataflow.Read(ctx, inst, importreader.From(c.future))
	c.secrets.addImports(imports)
	if missing := dataflow.MissingOf(err); len(missing) > 0 {
		return nil, c.lacks(inst, missing)
	}
	if err != nil {
		return nil, fmt.Errorf("read the imports: %w", err)
	}
	root, err := opener.open(ctx, inst)
	if err != nil {
		return nil, err
	}
	root.Imports = imports
	grower := plan.Tree{
		Open: func(ctx context.Context, _ plan.Input, inst *v1alpha1.Installation) (plan.Input, error) {
			return opener.open(ctx, inst)
		},
		Simulation: c,
		Maker:      maker{c.maker(), c},
		Identify:   c.live.identify,
	}
	grown, err := grower.Grow(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("render the tree: %w", err)
	}
	return grown, nil
}
