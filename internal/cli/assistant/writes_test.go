package assistant

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
)

const patched = "PATCH " + api + "installations/"

// TestStartJob: a job is started for the plan that was shown, and for no other one.
func TestStartJob(t *testing.T) {
	server := connectiontest.New(t, landscape...)
	session := connect(t, server, "--allow-writes")
	call := func(digest string) (answer startAnswer) {
		t.Helper()
		text, failed := ask(t, session, "start_job", fmt.Sprintf(`{"name":"tools","digest":%q}`, digest))
		if err := json.Unmarshal([]byte(text), &answer); err != nil || failed {
			t.Fatalf("failed %t: %s", failed, text)
		}
		return answer
	}
	first := call("")
	if first.Requested || first.Plan.Digest == "" || first.Plan.Summary == "" {
		t.Errorf("the first call only plans: %+v", first)
	}
	if wrong := call("sha256:other"); wrong.Requested || !strings.Contains(wrong.Next, "the plan is another one now") {
		t.Errorf("another digest starts nothing: %+v", wrong)
	}
	if writes := server.Writes(); len(writes) > 0 {
		t.Fatalf("it writes without the digest: %q", writes)
	}
	if second := call(first.Plan.Digest); !second.Requested {
		t.Errorf("the digest starts the job: %+v", second)
	}
	if got := server.Object(api + "installations/tools"); !strings.Contains(got, `"landscaper.gardener.cloud/operation":"reconcile"`) {
		t.Errorf("no job was requested: %s", got)
	}
	if writes := server.Writes(); len(writes) != 1 || writes[0] != patched+"tools" {
		t.Errorf("writes %q", writes)
	}
}

// TestEndJob: the job that was shown is ended, and no other one.
func TestEndJob(t *testing.T) {
	for _, test := range []struct {
		reason, arguments string
		requested         bool
		want              string
	}{
		{"the first call only says what ends", `{"name":"busy"}`, false, `{"ends":[{"kind":"Installation","name":"busy","namespace":"default","phase":"Progressing","state":"Running"}],"job":"j9"`},
		{"another job is not ended", `{"name":"busy","job":"j8"}`, false, "another job is running now"},
		{"without a running job there is nothing to end", `{"name":"tools","job":"j7"}`, false, "No job is running"},
		{"the job that was shown is ended", `{"name":"busy","job":"j9"}`, true, `"requested":true`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			server := connectiontest.New(t, landscape...)
			session := connect(t, server, "--allow-writes")
			text, failed := ask(t, session, "end_job", test.arguments)
			if failed || !strings.Contains(text, test.want) {
				t.Errorf("failed %t: %s", failed, text)
			}
			if requested := len(server.Writes()) == 1 && strings.Contains(server.Object(api+"installations/busy"), `"landscaper.gardener.cloud/operation":"interrupt"`); requested != test.requested {
				t.Errorf("requested %t: %q", requested, server.Writes())
			}
		})
	}
}

// TestRefusedWrite: the rights of the user count.
func TestRefusedWrite(t *testing.T) {
	server := connectiontest.New(t, landscape...)
	server.Refuse(patched+"busy", 403, metav1.StatusReasonForbidden, "not you")
	session := connect(t, server, "--allow-writes")
	if text, failed := ask(t, session, "end_job", `{"name":"busy","job":"j9"}`); !failed || !strings.Contains(text, "not you") {
		t.Errorf("failed %t: %s", failed, text)
	}
}
