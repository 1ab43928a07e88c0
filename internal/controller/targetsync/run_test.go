package targetsync

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// made are the names of the Targets of the namespace, and of the Secrets with our label.
func made(t *testing.T, c client.Reader) string {
	t.Helper()
	targets, secrets := &v1alpha1.TargetList{}, &corev1.SecretList{}
	if err := errors.Join(c.List(t.Context(), targets), c.List(t.Context(), secrets)); err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range targets.Items {
		all = append(all, "T:"+targets.Items[i].Name)
	}
	for i := range secrets.Items {
		if syncplan.Ours(&secrets.Items[i]) {
			all = append(all, "S:"+secrets.Items[i].Name)
		}
	}
	return strings.Join(all, " ")
}

// silent looks for a value where people read.
func silent(t *testing.T, o *outcome) {
	t.Helper()
	reported := strings.Join(errorsOf(o), "\n") + readiness(o).Message
	if strings.Contains(reported, word) || strings.Contains(reported, "e30.") {
		t.Errorf("a value is reported: %s", reported)
	}
}

// TestRun: a whole run against a source, from the access to Targets; and what a source
// that goes wrong may not bring about.
func TestRun(t *testing.T) {
	selecting := func(expression string) func(*run, *garden) {
		return func(r *run, _ *garden) { r.sync.Spec.ShootNameExpression = expression }
	}
	answering := func(end string, code int, reason string) func(*run, *garden) {
		return func(_ *run, g *garden) { g.answers[end] = refusedWith(code, reason) }
	}
	changed := func(name string, path ...string) func(*run, *garden) {
		return func(_ *run, g *garden) {
			object := g.shoots[name]
			for _, field := range path[:len(path)-1] {
				if object[field] == nil {
					object[field] = map[string]any{}
				}
				object = object[field].(map[string]any)
			}
			object[path[len(path)-1]] = nil
		}
	}
	granting := func(kubeconfig, expires string) func(*run, *garden) {
		return func(_ *run, g *garden) {
			g.answers["/adminkubeconfig"] = func() (int, any) {
				status := map[string]any{"kubeconfig": []byte(kubeconfig)}
				if expires != "" {
					status["expirationTimestamp"] = expires
				}
				return http.StatusCreated, map[string]any{"status": status}
			}
		}
	}
	good, later := kubeconfigOf("https://api.example.org", "", word), now.Add(time.Hour).Format(time.RFC3339)
	for _, test := range []struct {
		reason string
		change func(*run, *garden)
		// made is what is there afterwards, reason why the run has ended early, and says
		// what an item or the error tells.
		made  string
		ended reasons.Reason
		says  string
	}{
		{"every shoot gets a Secret and a Target", func(*run, *garden) {}, "T:eu T:us S:eu S:us", "", ""},
		{"only what the expression selects", selecting("^eu$"), "T:eu S:eu", "", ""},
		{"nothing is selected, so that the source is not asked", selecting(""), "", "", ""},
		{"an expression that is not valid", selecting("(("), "", reasons.InvalidSpec, "invalid regular expression"},
		{"two expressions", func(r *run, _ *garden) { r.sync.Spec.SecretNameExpression = "*" }, "", reasons.InvalidSpec, "both"},
		{"the access is missing", func(r *run, _ *garden) { r.sync.Spec.SecretRef.Name = "other" }, "", reasons.NoAccessToSource, "spec.secretRef"},
		{"the access is under another key", func(r *run, _ *garden) { r.sync.Spec.SecretRef.Key = "config" }, "", reasons.NoAccessToSource, "has no key config"},
		{"the source lists nothing to us", answering("/shoots", http.StatusForbidden, "Forbidden"), "", reasons.SourceNotListed, "nothing is removed"},
		{"a proxy answers instead of the source", func(_ *run, g *garden) {
			g.answers["/shoots"] = func() (int, any) { return http.StatusOK, map[string]any{"items": []any{}} }
		}, "", reasons.SourceNotListed, "nothing is removed"},
		{"a list of another namespace", func(_ *run, g *garden) { g.shoots["eu"]["metadata"].(map[string]any)["namespace"] = "garden-red" }, "", reasons.SourceNotListed, ""},
		{"a name that leads elsewhere", func(_ *run, g *garden) { g.shoots["eu"]["metadata"].(map[string]any)["name"] = "../../secrets" }, "", reasons.SourceNotListed, ""},
		{"credentials are refused", answering("/adminkubeconfig", http.StatusForbidden, "Forbidden"), "", "", "eu"},
		{"credentials are refused for one", answering("/eu/adminkubeconfig", http.StatusInternalServerError, "InternalError"), "T:us S:us", "", "target: eu"},
		{"an answer that is empty", granting("", later), "", "", "the answer has no kubeconfig"},
		{"credentials that run a program", granting(strings.Replace(good, `"token":`, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"},"token":`, 1), later), "", "", "cannot be used"},
		{"credentials that have expired when they come", granting(good, now.Add(-time.Hour).Format(time.RFC3339)), "", "", "check the clocks"},
		{"credentials without an expiration time", granting(good, ""), "T:eu T:us S:eu S:us", "", ""},
		{"no address yet", changed("eu", "status", "advertisedAddresses"), "T:us S:us", "", "no address yet"},
		{"a shoot that was deleted after it was listed", func(_ *run, g *garden) {
			g.answers["/shoots/eu"] = refusedWith(http.StatusNotFound, "NotFound")
			g.answers["/eu/adminkubeconfig"] = refusedWith(http.StatusNotFound, "NotFound")
		}, "T:us S:us", "", "was deleted after it was listed"},
		{"a source that does not serve the request", answering("/eu/adminkubeconfig", http.StatusNotFound, "NotFound"), "T:us S:us", "", "target: eu"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			g := newGarden(t, "eu", "us")
			r := g.runWith(t, interceptor.Funcs{})
			test.change(r, g)
			o := r.do(t.Context())
			if o.reason != test.ended || (o.err != nil) != (test.ended != "") {
				t.Errorf("it has ended with %q: %v", o.reason, o.err)
			}
			if got := made(t, r.Client); got != test.made {
				t.Errorf("made %q", got)
			}
			reported := strings.Join(errorsOf(o), "\n")
			for _, item := range o.items {
				reported += "\n" + item.Message
			}
			if !strings.Contains(reported, test.says) {
				t.Errorf("it says %q", reported)
			}
			silent(t, o)
		})
	}
}

// TestRunAgain: a run that finds all as it should be asks for nothing and writes nothing,
// also after a restart.
func TestRunAgain(t *testing.T) {
	g := newGarden(t, "eu", "us")
	var writes atomic.Int32 // of a step for each Target, at the same time
	r := g.runWith(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			writes.Add(1)
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			writes.Add(1)
			return c.Update(ctx, object, options...)
		},
	})
	if o := r.do(t.Context()); !o.ok() || !o.wrote || o.synced != 2 || strings.Join(o.created, " ") != "eu us" || writes.Load() != 4 {
		t.Fatalf("%+v, %d writes", o, writes.Load())
	}
	asked := g.requests("/adminkubeconfig")
	for _, step := range []struct {
		reason string
		memory *memory
	}{{"at once", r.memory}, {"after a restart", (&memories{}).of(key, "u")}} {
		t.Run(step.reason, func(t *testing.T) {
			r.memory = step.memory
			if o := r.do(t.Context()); !o.ok() || o.wrote || o.synced != 2 || len(o.created) > 0 || writes.Load() != 4 || o.wake.IsZero() {
				t.Errorf("%+v, %d writes", o, writes.Load())
			}
			if again := g.requests("/adminkubeconfig"); again != asked {
				t.Errorf("credentials were asked for %d times", again-asked)
			}
		})
	}
	t.Run("credentials are renewed before they end", func(t *testing.T) {
		r.Now = func() time.Time { return now.Add(59 * time.Minute) }
		g.answers["/adminkubeconfig"] = func() (int, any) {
			return http.StatusCreated, map[string]any{"status": map[string]any{
				"kubeconfig": []byte(kubeconfigOf("https://api.example.org", "", "another")), "expirationTimestamp": now.Add(2 * time.Hour).Format(time.RFC3339),
			}}
		}
		if o := r.do(t.Context()); !o.ok() || !o.wrote || len(o.created) > 0 || g.requests("/adminkubeconfig") != asked+2 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("Secret and Target of a deleted shoot are deleted", func(t *testing.T) {
		delete(g.shoots, "eu")
		if o := r.do(t.Context()); !o.ok() || strings.Join(o.removed, " ") != "eu" || made(t, r.Client) != "T:us S:us" {
			t.Errorf("%+v: %s", o, made(t, r.Client))
		}
	})
	t.Run("but not as long as the source cannot be listed", func(t *testing.T) {
		delete(g.shoots, "us")
		g.answers["/shoots"] = refusedWith(http.StatusServiceUnavailable, "ServiceUnavailable")
		if o := r.do(t.Context()); o.reason != reasons.SourceNotListed || made(t, r.Client) != "T:us S:us" {
			t.Errorf("%+v: %s", o, made(t, r.Client))
		}
	})
}

// TestTokenRotation: the token of the source is renewed in one write with its time, and a
// failure leaves the present one in use.
func TestTokenRotation(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*run, *garden)
		fails  interceptor.Funcs
		// rotated says that the Secret has the new token afterwards, says what is told.
		rotated bool
		says    string
	}{
		{"a token without a time of its last renewal is renewed", func(*run, *garden) {}, interceptor.Funcs{}, true, ""},
		{"a rotation that is switched off does nothing", func(r *run, _ *garden) { r.sync.Spec.TokenRotation.Enabled = false }, interceptor.Funcs{}, false, ""},
		{"the source grants none", func(_ *run, g *garden) { g.answers["/token"] = refusedWith(http.StatusForbidden, "Forbidden") }, interceptor.Funcs{}, false, "serviceaccounts/token"},
		{"a missing ServiceAccount is an error", func(_ *run, g *garden) { g.answers["/token"] = refusedWith(http.StatusNotFound, "NotFound") }, interceptor.Funcs{}, false, "the name under users"},
		{"the answer has no token", func(_ *run, g *garden) { g.token = "" }, interceptor.Funcs{}, false, "the answer has no token"},
		{"the source does not accept what it has granted", func(_ *run, g *garden) {
			g.answers["/serviceaccounts/sync-bot"] = refusedWith(http.StatusUnauthorized, "Unauthorized")
		}, interceptor.Funcs{}, false, "the present one stays"},
		{"a token that cannot be stored is an error", func(*run, *garden) {}, refuses("update", "Secret", errors.New("no space")), false, "store the new token in Secret blue/access"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			g := newGarden(t)
			r := g.runWith(t, test.fails)
			r.sync.Spec.TokenRotation.Enabled = true
			test.change(r, g)
			o := r.do(t.Context())
			stored := &corev1.Secret{}
			if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "blue", Name: "access"}, stored); err != nil {
				t.Fatal(err)
			}
			isNew := g.token != "" && strings.Contains(string(stored.Data["kubeconfig"]), g.token)
			if noted := stored.Annotations[v1alpha1.TokenRotatedAnnotation] != ""; isNew != test.rotated || noted != test.rotated || o.rotatedNow != test.rotated {
				t.Errorf("a new token: %t, with its time: %t, told: %t", isNew, noted, o.rotatedNow)
			}
			if reported := strings.Join(errorsOf(o), "\n"); !strings.Contains(reported, test.says) || (reported == "") != (test.says == "") {
				t.Errorf("it says %q", reported)
			}
			silent(t, o)
			if !o.listed {
				t.Error("a failure of the rotation has ended the run")
			}
		})
	}
	t.Run("once is enough", func(t *testing.T) {
		g := newGarden(t)
		r := g.runWith(t, interceptor.Funcs{})
		r.sync.Spec.TokenRotation.Enabled = true
		for range 2 {
			r.memory.news = map[subject]string{}
			if o := r.do(t.Context()); !o.ok() {
				t.Fatal(errorsOf(o))
			}
		}
		if asked := g.requests("/token"); asked != 1 {
			t.Errorf("%d tokens were asked for", asked)
		}
	})
}

// TestRemoved: only the source itself says that a shoot is deleted. All else is an error, because
// the objects of a deleted shoot are not uninstalled.
func TestRemoved(t *testing.T) {
	for _, test := range []struct {
		reason  string
		change  func(*garden, *v1alpha1.TargetSync)
		removed bool
		says    string
	}{
		{"the shoot exists", func(*garden, *v1alpha1.TargetSync) {}, false, ""},
		{"the shoot is deleted", func(g *garden, _ *v1alpha1.TargetSync) { delete(g.shoots, "eu") }, true, ""},
		{"the shoot is being deleted", func(g *garden, _ *v1alpha1.TargetSync) {
			g.shoots["eu"]["metadata"].(map[string]any)["deletionTimestamp"] = "2031-05-04T12:00:00Z"
		}, true, ""},
		{"the permission to read the shoot is missing", func(g *garden, _ *v1alpha1.TargetSync) {
			g.answers["/shoots/eu"] = refusedWith(http.StatusForbidden, "Forbidden")
		}, false, "read shoot garden-blue/eu"},
		{"a server that knows no shoots", func(g *garden, _ *v1alpha1.TargetSync) {
			g.answers["/shoots/eu"] = func() (int, any) { return http.StatusNotFound, "404 page not found" }
		}, false, "check that the source serves shoots"},
		{"Secrets are selected, and no shoots", func(_ *garden, sync *v1alpha1.TargetSync) { sync.Spec.ShootNameExpression = "" }, false, "selects no shoots"},
		{"the access is missing", func(_ *garden, sync *v1alpha1.TargetSync) { sync.Spec.SecretRef.Name = "other" }, false, "read Secret blue/other"},
		{"the access is empty", func(_ *garden, sync *v1alpha1.TargetSync) { sync.Spec.SecretRef.Key = "other" }, false, "has no key other, or it is empty: put the kubeconfig of the source there, or name its key in spec.secretRef.key"},
		{"the TargetSync is elsewhere", func(_ *garden, sync *v1alpha1.TargetSync) { sync.Namespace = "red" }, false, "not found or not unique"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			g, sync := newGarden(t, "eu"), fleet()
			test.change(g, sync)
			r := g.runWith(t, interceptor.Funcs{}, sync)
			shoots := &Shoots{Client: r.Client, Reader: r.Client, Pool: r.Pool}
			removed, err := shoots.Removed(t.Context(), "blue", "eu")
			if removed != test.removed || (err == nil) != (test.says == "") || err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), word)) {
				t.Errorf("%t, %v", removed, err)
			}
		})
	}
}

// TestDeletedWhileListing: a cancelled run may have its list already. The TargetSync is forgotten by
// then, and a watch that begins after that would never be closed.
func TestDeletedWhileListing(t *testing.T) {
	g := newGarden(t)
	r := g.runWith(t, interceptor.Funcs{})
	var err error
	if r.source, err = r.Pool.ConnectKubeconfig(g.access(tokenOf(now, now.Add(time.Hour))).Data["kubeconfig"]); err != nil {
		t.Fatal(err)
	}
	r.memory.end()
	r.watch(&syncplan.World{}, "1")
	if r.memory.watch != nil {
		r.memory.end()
		t.Error("the source is watched for a deleted TargetSync")
	}
}
