package showcase

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const dataflowNamespace = "cu-dataflow"

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: dataflowNamespace, Name: name}
}

// dataflowShown is what the data flow example shows at its end.
//
//go:embed testdata/dataflow.txt
var dataflowShown string

// prompt is before each command of a transcript.
const prompt = "❯ "

// Shot is a command and what it has printed.
type Shot struct {
	Command string
	Output  string
}

// Transcript are commands and what they have printed.
type Transcript []Shot

// Print writes the transcript as a terminal shows it.
func (t Transcript) Print(to io.Writer) {
	for _, shot := range t {
		fmt.Fprintf(to, "%s%s\n%s\n", prompt, shot.Command, shot.Output)
	}
}

// parse reads a transcript.
func parse(text string) Transcript {
	var transcript Transcript
	for _, shot := range strings.Split("\n"+text, "\n"+prompt)[1:] {
		command, output, _ := strings.Cut(shot, "\n")
		transcript = append(transcript, Shot{Command: command, Output: strings.Trim(output, "\n") + "\n"})
	}
	return transcript
}

// ShowDataflow runs the commands that show the data flow example.
func (s *Stage) ShowDataflow(ctx context.Context) (Transcript, error) {
	var transcript Transcript
	for _, wanted := range parse(dataflowShown) {
		program, args := command(wanted.Command)
		args = append(args, "--kubeconfig", s.kubeconfig(wanted.Command))
		var output bytes.Buffer
		if err := s.run(ctx, &output, program, args...); err != nil {
			return nil, err
		}
		transcript = append(transcript, Shot{Command: wanted.Command, Output: strings.Trim(output.String(), "\n") + "\n"})
	}
	return transcript, nil
}

// kubeconfig is that of the cluster which a command is about.
func (s *Stage) kubeconfig(command string) string {
	switch {
	case strings.HasPrefix(command, "landscaper-cli"):
		return s.Resource
	case strings.HasSuffix(command, "-n "+FluxNamespace):
		return s.Flux
	}
	return s.Workload
}

// ownObjects are objects that Kubernetes makes in every namespace.
var ownObjects = map[string]string{"serviceaccount": "default", "configmaps": "kube-root-ca.crt"}

// command splits a command. What Kubernetes makes in every namespace is left out.
func command(text string) (program string, args []string) {
	words := strings.Fields(text)
	program, args = words[0], words[1:]
	if own := ownObjects[args[1]]; own != "" {
		args = append(slices.Clone(args), "--field-selector", "metadata.name!="+own)
	}
	return program, args
}

// CompareDataflow says how a transcript of the data flow example differs from what
// should be shown; nothing if it does not.
func CompareDataflow(got Transcript) []string {
	var differences []string
	for i, want := range parse(dataflowShown) {
		if i >= len(got) {
			return append(differences, want.Command+": not shown")
		}
		if mine, theirs := comparable(want, got[i].Output), comparable(want, want.Output); mine != theirs {
			differences = append(differences, fmt.Sprintf("%s: got\n%swant\n%s", want.Command, mine, theirs))
		}
	}
	return differences
}
