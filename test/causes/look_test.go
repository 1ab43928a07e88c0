package causes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
)

// surfaces are where a user looks at a root.
var surfaces = []string{"inspect", "inspect -f", "kubectl"}

// look is what all surfaces show at one moment.
type look map[string]string

// look looks at the root.
func (s *stage) look() look {
	s.Helper()
	return look{
		"inspect":    s.inspect("--no-wrap"),
		"inspect -f": s.inspect("--no-wrap", "-f"),
		"kubectl":    s.describe(),
	}
}

// inspect runs the command line.
func (s *stage) inspect(flags ...string) string {
	s.Helper()
	var out, errs bytes.Buffer
	streams := terminal.Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" },
		Columns: func() int { return 0 }, Rows: func() int { return 0 },
	}
	args := append([]string{"inst", "inspect", s.root.Name, "-n", s.space, "--kubeconfig", env.Resource.Kubeconfig}, flags...)
	if code := cli.Run(s.Context(), streams, "landscaper-cli", args); code != 0 {
		return fmt.Sprintf("exit code %d: %s", code, errs.String())
	}
	return out.String()
}

// describe is what kubectl shows of the status of the root: the printed columns, phase,
// error and conditions, and the events.
func (s *stage) describe() string {
	s.Helper()
	inst := &v1alpha1.Installation{}
	if err := env.Admin.Get(s.Context(), client.ObjectKeyFromObject(s.root), inst); err != nil {
		return err.Error()
	}
	var text strings.Builder
	columns, err := printed(s.Context(), inst)
	if err != nil {
		s.Fatal(err)
	}
	fmt.Fprintln(&text, columns)
	status := m{"phase": inst.Status.InstallationPhase, "lastError": inst.Status.LastError, "conditions": inst.Status.Conditions}
	shown, err := yaml.Marshal(status)
	if err != nil {
		s.Fatal(err)
	}
	text.Write(shown)
	events := &corev1.EventList{}
	if err := env.Admin.List(s.Context(), events, client.InNamespace(s.space), client.MatchingFields{"involvedObject.uid": string(inst.UID)}); err != nil {
		s.Fatal(err)
	}
	for _, event := range events.Items {
		fmt.Fprintf(&text, "%s %s %s\n", event.Type, event.Reason, event.Message)
	}
	return text.String()
}

// printed is the line of kubectl get.
func printed(ctx context.Context, inst *v1alpha1.Installation) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", env.Resource.Kubeconfig)
	if err != nil {
		return "", err
	}
	answers, err := rest.HTTPClientFor(config)
	if err != nil {
		return "", err
	}
	address := config.Host + "/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/" + inst.Namespace + "/installations/" + inst.Name
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := answers.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	table := metav1.Table{}
	if err := json.Unmarshal(raw, &table); err != nil {
		return "", err
	}
	var cells []string
	for _, row := range table.Rows {
		for _, cell := range row.Cells {
			cells = append(cells, fmt.Sprint(cell))
		}
	}
	return strings.Join(cells, " "), nil
}

// String is for messages of the test.
func (l look) String() string {
	var text strings.Builder
	for _, surface := range surfaces {
		fmt.Fprintf(&text, "--- %s\n%s\n", surface, l[surface])
	}
	return text.String()
}

// keep writes what was seen below the directory CAUSES_LOOKS, for work on the messages.
func (s *stage) keep(when string, seen look) {
	directory := os.Getenv("CAUSES_LOOKS")
	if directory == "" {
		return
	}
	if err := os.WriteFile(directory+"/"+s.space+"-"+when+".txt", []byte(seen.String()), 0o600); err != nil {
		s.Error(err)
	}
}
