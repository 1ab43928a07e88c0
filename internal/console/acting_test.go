package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// fakeActor notes what it is to do.
type fakeActor struct {
	rights Rights
	done   []Request
	asked  []string
	fails  error
	sees   Planner
	plan   *Plan
}

func (h *fakeActor) May(_ context.Context, namespace, name string) (Rights, error) {
	h.asked = append(h.asked, namespace+"/"+name)
	return h.rights, h.fails
}

func (h *fakeActor) Do(_ context.Context, request Request) ([]string, error) {
	h.done = append(h.done, request)
	return []string{"a remark"}, h.fails
}

func (h *fakeActor) Stored(_ context.Context, inst *v1alpha1.Installation) (*StoredPlan, error) {
	return &StoredPlan{UID: inst.UID, Plan: h.plan}, h.fails
}

func (h *fakeActor) Planner() Planner { return h.sees }

// sendTo sends a request for an action, or a question without one, as a page of the console does.
func sendTo(handler http.Handler, path, body string, headers ...string) *httptest.ResponseRecorder {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	request := httptest.NewRequestWithContext(context.Background(), method, "http://"+address+path, strings.NewReader(body))
	request.Header.Set(ownHeader, "1")
	request.Header.Set("Origin", "http://"+address)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

const anAction = `{"uid":"u"}`

// TestRequestedActions: a request is carried out as it was sent, and only if a page of the console has sent it.
func TestRequestedActions(t *testing.T) {
	h := &fakeActor{}
	entrance, err := NewLink(address, "secret", h)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(t.Context(), Options{Source: still{}, Entrance: entrance})
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(handler, http.MethodGet, "/login?token=secret")
	session, _, _ := strings.Cut(cookies(answer)[0].String(), ";")
	_, key, _ := strings.Cut(answer.Body.String(), "#key=")
	key, _, _ = strings.Cut(key, `"`)
	tests := []struct {
		reason, path, body string
		headers            []string
		want               int
	}{
		{"a request", "/act/reconcile/shop/root", anAction, nil, 200},
		{"without a session", "/act/reconcile/shop/root", anAction, []string{"Cookie", ""}, 401},
		{"with the session alone, which other ports of this machine see", "/act/reconcile/shop/root", anAction, []string{keyHeader, ""}, 403},
		{"with a key that was guessed", "/act/reconcile/shop/root", anAction, []string{keyHeader, "GUESS"}, 403},
		{"the token of the link in place of the key", "/act/reconcile/shop/root", anAction, []string{keyHeader, "secret"}, 403},
		{"by a form of another site", "/act/reconcile/shop/root", anAction, []string{"Origin", "https://evil.example"}, 403},
		{"by a form of another port", "/act/reconcile/shop/root", anAction, []string{"Origin", "http://127.0.0.1:7001"}, 403},
		{"by a form that does not say where it is from", "/act/reconcile/shop/root", anAction, []string{"Origin", ""}, 403},
		{"by a sandboxed frame", "/act/reconcile/shop/root", anAction, []string{"Origin", "null"}, 403},
		{"by a browser that says it is another site", "/act/reconcile/shop/root", anAction, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"by a page of another host of the site", "/act/reconcile/shop/root", anAction, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a form without the header of our pages", "/act/reconcile/shop/root", anAction, []string{ownHeader, ""}, 403},
		{"under another name (DNS rebinding)", "/act/reconcile/shop/root", anAction, []string{"Host", "evil.example:7000"}, 421},
		{"by GET, as a link or a picture does", "/act/reconcile/shop/root", "", nil, 405},
		{"an action that there is not", "/act/force-delete/shop/root", anAction, nil, 400},
		{"a request without the object that the user has seen", "/act/reconcile/shop/root", `{}`, nil, 400},
		{"a request with something unknown", "/act/reconcile/shop/root", `{"uid":"u","as":"admin"}`, nil, 400},
		{"two requests in one", "/act/reconcile/shop/root", anAction + anAction, nil, 400},
		{"a request that is too long", "/act/set-imports/shop/root", `{"uid":"` + strings.Repeat("u", maxRequest) + `"}`, nil, 400},
		{"another path", "/act/reconcile/shop", anAction, nil, 404},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			h.done = nil
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+test.path, strings.NewReader(test.body))
			if test.body == "" {
				request.Method = http.MethodGet
			}
			set := []string{"Cookie", session, keyHeader, key, ownHeader, "1", "Origin", "http://" + address}
			for at, header := range [][]string{set, test.headers} {
				for i := 0; i+1 < len(header); i += 2 {
					request.Header.Set(header[i], header[i+1])
					if header[i] == "Host" && at == 1 {
						request.Host = header[i+1]
					}
				}
			}
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			if recorder.Code != test.want && (test.want != 405 || recorder.Code != 404) || (len(h.done) > 0) != (test.want == 200) {
				t.Errorf("status %d, want %d, done %+v: %s", recorder.Code, test.want, h.done, recorder.Body)
			}
			if want := []Request{{Action: Reconcile, Namespace: "shop", Name: "root", UID: "u"}}; test.want == 200 && !cmp.Equal(want, h.done) {
				t.Errorf("done %+v", h.done)
			}
		})
	}
}

// TestReadOnly: without what acts, nothing is offered, and nothing done.
func TestReadOnly(t *testing.T) {
	handler := openFor(t, landscape(), sees("installations"))
	for _, path := range []string{"/actions", "/actions/shop/root", "/plan/job/shop/root", "/plan/deletion/shop/root", "/approval/shop/root"} {
		if answer := sendTo(handler, path, ""); answer.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	if answer := sendTo(handler, "/act/delete/shop/root", anAction); answer.Code != http.StatusForbidden {
		t.Errorf("status %d: %s", answer.Code, answer.Body)
	}
}

// TestFits: what is offered is what makes sense as an Installation stands.
func TestFits(t *testing.T) {
	tests := []struct {
		reason, job, finished string
		change                func(*v1alpha1.Installation)
		want                  []Action
	}{
		{"a root at rest", "1", "1", nil, []Action{Reconcile, Skip, Delete}},
		{"a root with a job", "2", "1", nil, []Action{Reconcile, ForceReconcile, Interrupt, Abort, Skip, Delete}},
		{"a part has no job of its own", "2", "1", func(i *v1alpha1.Installation) { i.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"} }, []Action{Interrupt, Abort, Delete}},
		{"a root without automatic jobs", "1", "1", func(i *v1alpha1.Installation) { i.Annotations = map[string]string{v1alpha1.SkipAnnotation: "true"} }, []Action{Reconcile, Unskip, Delete}},
		{"a root that is being deleted", "1", "1", func(i *v1alpha1.Installation) { i.DeletionTimestamp = &i.CreationTimestamp }, []Action{Reconcile}},
		{"imports can be set", "1", "1", func(i *v1alpha1.Installation) { i.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "a"}} }, []Action{Reconcile, SetImports, Skip, Delete}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{}
			if test.change != nil {
				test.change(inst)
			}
			node := &inspect.Node{Kind: inspect.KindInstallation, Installation: inst, JobID: test.job, JobIDFinished: test.finished}
			got := slices.DeleteFunc(slices.Clone(Actions), func(action Action) bool { return !fits(action, node) })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOffers: what a user may not do has no button, and what the user may not see is as absent as what
// does not exist.
func TestOffers(t *testing.T) {
	h := &fakeActor{}
	visitor := sees("installations/shop")
	visitor.actor = h
	handler := openFor(t, crowded(), visitor)
	name := landscape().Installations[0].Name
	offers := func(rights Rights) (offer Offer) {
		t.Helper()
		h.rights = rights
		answer := sendTo(handler, "/actions/shop/"+name, "")
		if err := json.Unmarshal(answer.Body.Bytes(), &offer); err != nil {
			t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
		}
		return offer
	}
	if offer := offers(Rights{}); len(offer.Actions) > 0 {
		t.Errorf("%v", offer.Actions)
	}
	if offer := offers(Rights{Delete: true}); !slices.Equal(offer.Actions, []Action{Delete}) {
		t.Errorf("%v", offer.Actions)
	}
	if offer := offers(Rights{Change: true}); slices.Contains(offer.Actions, Delete) || !slices.Contains(offer.Actions, Reconcile) {
		t.Errorf("%v", offer.Actions)
	}
	h.asked = nil
	for _, what := range []string{"/actions", "/plan/job", "/plan/deletion", "/approval"} {
		hidden, absent := sendTo(handler, what+"/other/"+name, ""), sendTo(handler, what+"/other/absent", "")
		if hidden.Code != http.StatusNotFound || hidden.Body.String() != absent.Body.String() || len(h.asked) > 0 {
			t.Errorf("%s: %d %s, asked about %v", what, hidden.Code, hidden.Body, h.asked)
		}
	}
}

// TestFailedRoots: what can be run again is what the user sees and may change.
func TestFailedRoots(t *testing.T) {
	failed := func(space, name string) *v1alpha1.Installation {
		inst := installation(name, "", func(inst *v1alpha1.Installation) { ends(inst, v1alpha1.InstallationPhases.Failed) })
		inst.Namespace, inst.Status.JobIDFinished = space, inst.Status.JobID
		return inst
	}
	h := &fakeActor{}
	visitor := sees("installations/shop")
	visitor.actor = h
	handler := openFor(t, inspect.Snapshot{Installations: []*v1alpha1.Installation{failed("shop", "a"), failed("shop", "b"), failed("other", "c")}}, visitor)
	for _, may := range []bool{true, false} {
		h.rights.Change, h.asked = may, nil
		answer := sendTo(handler, "/actions", "")
		var roots []FailedRoot
		if err := json.Unmarshal(answer.Body.Bytes(), &roots); err != nil || (len(roots) == 2) != may || len(roots) == 1 || len(h.asked) != 1 {
			t.Errorf("%d %s, asked %v: %v", answer.Code, answer.Body, h.asked, err)
		}
	}
}

// TestDeletion: without a planner, what is recorded is shown, and that it is only that.
func TestDeletion(t *testing.T) {
	visitor := sees("installations", "executions", "deployitems")
	visitor.actor = &fakeActor{}
	answer := sendTo(openFor(t, landscape(), visitor), "/plan/deletion/shop/"+landscape().Installations[0].Name, "")
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "recorded") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if answer := sendTo(openFor(t, landscape(), visitor), "/plan/job/shop/"+landscape().Installations[0].Name, ""); answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "landscaper-cli") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
