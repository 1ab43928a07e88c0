package targets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cluster/login"
)

// contentKey is the key of a Secret with the whole content of a Target.
const contentKey = "config"

type kubeconfigFlags struct {
	manifestFlags
	file, context string
	flatten       bool
	secret, key   string
}

func newKubernetesClusterCommand(streams terminal.Streams) *cobra.Command {
	f := &kubeconfigFlags{}
	command := &cobra.Command{
		Use:     "kubernetes-cluster",
		Aliases: []string{"k8s-cluster"},
		Short:   "Write the manifest of a Target with a kubeconfig",
		Long: `Write the manifest of a Target of type ` + string(v1alpha1.KubernetesClusterTargetType) + `.

A kubeconfig that runs programs or reads files works nowhere but here: files are
embedded with --flatten, and for a program (exec) a kubeconfig with a token or a
certificate is needed.`,
		Example: `  landscaper-cli targets create kubernetes-cluster --name edge -n shop --target-kubeconfig edge.kubeconfig

  # one context of a larger kubeconfig, in a Secret, sent to the resource cluster
  landscaper-cli targets create k8s-cluster --name edge -n shop --target-kubeconfig ~/.kube/config --context edge --flatten -s edge-access --apply`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command.Context(), streams) },
	}
	f.add(command)
	flags := command.Flags()
	flags.StringVar(&f.file, "target-kubeconfig", "", "`file` with the kubeconfig of the target cluster (required)")
	flags.StringVar(&f.context, "context", "", "take only this context of the kubeconfig (default: the file as it is)")
	flags.BoolVar(&f.flatten, "flatten", false, "embed the files that the kubeconfig refers to")
	flags.StringVarP(&f.secret, "secret", "s", "", "put the content into a Secret of this name")
	flags.StringVar(&f.key, "key", contentKey, "key in the Secret; under any other than "+contentKey+" the kubeconfig is stored as it is")
	// The flag exists: it was just defined.
	_ = command.RegisterFlagCompletionFunc("context", connection.CompleteContextsOf(&f.file))
	return command
}

func (f *kubeconfigFlags) run(ctx context.Context, streams terminal.Streams) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.file == "" {
		return terminal.Usage(errors.New(`required flag(s) "target-kubeconfig" not set: name the file with --target-kubeconfig`))
	}
	if f.key == "" || f.key != contentKey && f.secret == "" {
		return terminal.Usage(errors.New("--key is the key in a Secret: name the Secret with --secret"))
	}
	text, err := f.kubeconfig()
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", f.file, err)
	}
	spec := map[string]any{"type": string(v1alpha1.KubernetesClusterTargetType)}
	content := map[string]any{"kubeconfig": text}
	if f.secret == "" {
		spec["config"] = content
		return f.write(ctx, streams.Out, f.target(spec))
	}
	raw := []byte(text)
	if f.key == contentKey {
		if raw, err = json.Marshal(content); err != nil {
			return err
		}
	}
	spec["secretRef"] = map[string]any{"name": f.secret, "key": f.key}
	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": f.metadata(f.secret),
		"data": map[string]any{f.key: base64.StdEncoding.EncodeToString(raw)},
	}
	return f.write(ctx, streams.Out, secret, f.target(spec))
}

func (f *manifestFlags) target(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Target", "metadata": f.metadata(f.name), "spec": spec,
	}
}

// kubeconfig returns the text of the kubeconfig, as it was or reduced to what is needed.
// What controllers would refuse is refused here: its writer is still there to mend it.
func (f *kubeconfigFlags) kubeconfig() (string, error) {
	text, err := f.reduced()
	if err != nil {
		return "", err
	}
	_, err = login.ReadKubeconfig([]byte(text))
	return text, err
}

func (f *kubeconfigFlags) reduced() (string, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.file}
	config, err := rules.Load()
	if err != nil {
		return "", err
	}
	if f.context != "" {
		if config.Contexts[f.context] == nil {
			return "", fmt.Errorf("there is no context %q", f.context)
		}
		config.CurrentContext = f.context
		if err := clientcmdapi.MinifyConfig(config); err != nil {
			return "", err
		}
	}
	if f.flatten {
		if err := clientcmdapi.FlattenConfig(config); err != nil {
			return "", err
		}
	}
	if err := worksElsewhere(config); err != nil {
		return "", err
	}
	if f.context == "" && !f.flatten {
		return string(text), nil
	}
	text, err = clientcmd.Write(*config)
	return string(text), err
}

// worksElsewhere refuses what only works on this machine.
func worksElsewhere(config *clientcmdapi.Config) error {
	for _, name := range slices.Sorted(maps.Keys(config.Clusters)) {
		cluster := config.Clusters[name]
		if cluster.CertificateAuthority != "" {
			return fmt.Errorf("cluster %q refers to a file (certificate-authority): embed it with --flatten", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(config.AuthInfos)) {
		user := config.AuthInfos[name]
		switch {
		case user.ClientCertificate != "", user.ClientKey != "":
			return fmt.Errorf("user %q refers to a file (client-certificate or client-key): embed it with --flatten", name)
		case user.TokenFile != "":
			// Such a token is replaced in its file before it ends.
			return fmt.Errorf("user %q has its token in a file (tokenFile): put the token itself into the kubeconfig, one that lives long enough", name)
		case user.Exec != nil, user.AuthProvider != nil:
			return fmt.Errorf("user %q runs a program (exec or auth-provider), which a Target may not: use a kubeconfig with a token or a client certificate, or choose another context with --context", name)
		}
	}
	return nil
}
