package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/requests"
)

const (
	// ownHeader is in each request by which a page acts. A page of another site cannot add it without
	// asking first, and is refused then.
	ownHeader = "X-Landscaper-Console"
	// requestsBelow is where requests of pages are posted.
	requestsBelow = "/act/"
	// maxRequest bounds a request: values of imports have less space in an Installation.
	maxRequest = 1 << 20
	// actTimeout and planTimeout limit an action and a plan.
	actTimeout, planTimeout = time.Minute, 5 * time.Minute
)

var errReadsOnly = errors.New("this console only reads")

// acting is the part of a console that acts.
type acting struct {
	board *board
	plans *plans
}

func (b *board) addActing(routes *http.ServeMux) {
	a := &acting{board: b, plans: newPlans()}
	routes.HandleFunc("GET /actions", a.handle(a.failed))
	routes.HandleFunc("GET /actions/{namespace}/{name}", a.handle(a.offered))
	routes.HandleFunc("GET /plan/job/{namespace}/{name}", a.handle(a.plan))
	routes.HandleFunc("GET /approval/{namespace}/{name}", a.handle(a.stored))
	routes.HandleFunc("GET /plan/deletion/{namespace}/{name}", a.handle(a.deletion))
	routes.HandleFunc("POST "+requestsBelow+"{action}/{namespace}/{name}", a.handle(a.act))
}

// handle answers with what a function returns, for a visitor who acts.
func (a *acting) handle(answer func(*http.Request, Actor) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !FromPage(r) {
			http.Error(w, "only pages of the console can ask for this", http.StatusForbidden)
			return
		}
		actor, err := visitorOf(r).Actor(r)
		if err == nil && actor == nil {
			err = &Refusal{http.StatusForbidden, errReadsOnly.Error()}
		}
		control := http.NewResponseController(w)
		// The limits of the server are for answers of a moment.
		_ = control.SetReadDeadline(time.Time{}) // a server without limits has no deadline
		_ = control.SetWriteDeadline(time.Now().Add(planTimeout + writeTimeout))
		var said any
		if err == nil {
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			said, err = answer(r, actor)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(said) // a client that has left needs no answer
	}
}

// FromPage reports whether the code of a page asks, which follows no redirect to a login.
func FromPage(r *http.Request) bool { return r.Header.Get(ownHeader) != "" }

// Refusal is an error with the status of an answer.
type Refusal struct {
	Status int
	Text   string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		status = refusal.Status
	case errors.Is(err, ErrOther):
		status = http.StatusConflict
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), status)
}

// seen returns the landscape as a visitor sees it, as far as it matters for a namespace.
func (a *acting) seen(r *http.Request) (*state, error) {
	now, _ := a.board.now()
	namespaces := now.namespaces
	if one := r.PathValue("namespace"); one != "" {
		namespaces = []string{one}
	}
	view, err := visitorOf(r).View(r.Context(), namespaces)
	if err != nil {
		return nil, &Refusal{http.StatusServiceUnavailable, "it is not known what you may see: try again"}
	}
	return a.board.stateOf(now, view), nil
}

// installation returns an Installation that a visitor sees.
func (a *acting) installation(r *http.Request) (*inspect.Node, *state, error) {
	s, err := a.seen(r)
	if err != nil {
		return nil, nil, err
	}
	node := s.installations[types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}]
	if node == nil || node.Installation == nil {
		return nil, nil, &Refusal{http.StatusNotFound, "there is no such Installation"}
	}
	return node, s, nil
}

// Offer is what a visitor may do with an Installation as it stands.
type Offer struct {
	UID     types.UID `json:"uid"`
	Actions []Action  `json:"actions"`
	// Plans says that what a job would change can be worked out.
	Plans bool `json:"plans,omitempty"`
	// Imports are the names of the imports that can be set.
	Imports []string `json:"imports,omitempty"`
	// Part is the Installation that this one is a part of, and whose next job brings it back.
	Part string `json:"part,omitempty"`
}

func (a *acting) offered(r *http.Request, actor Actor) (any, error) {
	node, _, err := a.installation(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), actTimeout)
	defer cancel()
	rights, err := actor.May(ctx, node.Namespace, node.Name)
	if err != nil {
		return nil, err // says what was asked
	}
	inst := node.Installation
	offer := Offer{UID: inst.UID, Actions: []Action{}, Part: inspect.Parent(inst), Plans: actor.Planner() != nil && inst.DeletionTimestamp == nil}
	for _, action := range Actions {
		if fits(action, node) && (action == Delete && rights.Delete || action != Delete && rights.Change) {
			offer.Actions = append(offer.Actions, action)
		}
	}
	for _, imported := range inst.Spec.Imports.Data {
		offer.Imports = append(offer.Imports, imported.Name)
	}
	for name := range inst.Spec.ImportDataMappings {
		if !slices.Contains(offer.Imports, name) {
			offer.Imports = append(offer.Imports, name)
		}
	}
	slices.Sort(offer.Imports)
	return offer, nil
}

// fits reports whether an action makes sense for an Installation as it stands.
func fits(action Action, node *inspect.Node) bool {
	inst := node.Installation
	root, runs := inspect.Parent(inst) == "", node.JobID != node.JobIDFinished
	switch action {
	case Reconcile:
		return root
	case ForceReconcile:
		return root && runs
	case Interrupt, Abort:
		return runs
	case SetImports:
		return len(inst.Spec.Imports.Data)+len(inst.Spec.ImportDataMappings) > 0 && inst.DeletionTimestamp == nil
	case Skip:
		return root && !requests.Skips(inst) && inst.DeletionTimestamp == nil
	case Unskip:
		return requests.Skips(inst)
	case Delete:
		return inst.DeletionTimestamp == nil
	case Approve:
		// It comes with the plan.
		return false
	}
	return false
}

// FailedRoot is a root that can be run again.
type FailedRoot struct {
	Object
	UID types.UID `json:"uid"`
}

// failed returns the roots whose last job has failed, and that the visitor may change.
func (a *acting) failed(r *http.Request, actor Actor) (any, error) {
	s, err := a.seen(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), actTimeout)
	defer cancel()
	roots, may := []FailedRoot{}, map[string]bool{}
	for _, root := range s.forest {
		if len(roots) == shown || !requests.Failed(root) || inspect.Parent(root.Installation) != "" {
			continue
		}
		allowed, known := may[root.Namespace]
		if !known {
			rights, err := actor.May(ctx, root.Namespace, "")
			if err != nil {
				return nil, err // says what was asked
			}
			allowed = rights.Change
			may[root.Namespace] = allowed
		}
		if allowed {
			roots = append(roots, FailedRoot{s.object(root), root.Installation.UID})
		}
	}
	return roots, nil
}

// Done is the answer to a request that was carried out.
type Done struct {
	Remarks []string `json:"remarks,omitempty"`
}

func (a *acting) act(r *http.Request, actor Actor) (any, error) {
	var request Request
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil || decoder.More() {
		return nil, &Refusal{http.StatusBadRequest, "this is not a request for an action"}
	}
	request.Action, request.Namespace, request.Name = Action(r.PathValue("action")), r.PathValue("namespace"), r.PathValue("name")
	if !slices.Contains(Actions, request.Action) {
		return nil, &Refusal{http.StatusBadRequest, "there is no such action"}
	}
	if request.UID == "" {
		return nil, &Refusal{http.StatusBadRequest, "the request does not say which Installation you have seen"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), actTimeout)
	defer cancel()
	remarks, err := actor.Do(ctx, request)
	if err != nil {
		return nil, err // says what was done
	}
	return Done{remarks}, nil
}

// Deletion is what a deletion would take away, in order.
type Deletion struct {
	Notes      []string             `json:"notes,omitempty"`
	Uninstalls []requests.Uninstall `json:"uninstalls"`
}

func (a *acting) deletion(r *http.Request, actor Actor) (any, error) {
	node, s, err := a.installation(r)
	if err != nil {
		return nil, err
	}
	planner := actor.Planner()
	if planner == nil {
		return recorded(node, s, "the clusters are not asked here"), nil
	}
	end, err := a.plans.begin(r.Context(), visitorOf(r).Name())
	if err != nil {
		// A deletion that is to be confirmed does not wait for plans.
		return recorded(node, s, err.Error()), nil
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), actTimeout)
	defer cancel()
	uninstalls, notes, err := planner.Uninstalls(ctx, node.Namespace, node.Name)
	if err != nil {
		return nil, err // says what was read
	}
	return Deletion{notes, uninstalls}, nil
}

// recorded is what a deletion takes away as far as that is recorded.
func recorded(node *inspect.Node, s *state, why string) Deletion {
	return Deletion{append(slices.Clone(s.notes), "These are the objects that are recorded: "+why+". What others want of them stays."), requests.Uninstalls(node)}
}
