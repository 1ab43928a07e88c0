package cli

import (
	"os"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/supervisor"
)

func newUser(s *settings) *cobra.Command {
	var cluster, manifests string
	var remove bool
	request := supervisor.UserRequest{}
	command := &cobra.Command{
		Use:   "user NAME",
		Short: "Make a user of a cluster with given rights and print its kubeconfig's path, as JSON",
		Example: `  lab user reader --cluster target --cluster-role view
  lab user deployer --cluster target --cluster-role edit --namespace team-a --cert
  lab user custom --cluster target --rbac roles-and-bindings.yaml
  lab user reader --cluster target --remove   # its tokens become invalid`,
		Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			if remove {
				return client.RemoveUser(command.Context(), cluster, supervisor.RemoveUserRequest{Name: args[0]})
			}
			request.Name = args[0]
			if manifests != "" {
				if request.Manifests, err = os.ReadFile(manifests); err != nil {
					return err
				}
			}
			user, err := client.AddUser(command.Context(), cluster, request)
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), user)
		},
	}
	flags := command.Flags()
	flags.StringVar(&cluster, "cluster", "", "the cluster that is to know the user")
	flags.StringSliceVar(&request.Groups, "group", nil, "groups of the user")
	flags.StringSliceVar(&request.ClusterRoles, "cluster-role", nil, "ClusterRoles to bind to the user, in the cluster or in --namespace")
	flags.StringVar(&request.Namespace, "namespace", "", "bind the ClusterRoles in this namespace only")
	flags.StringVar(&manifests, "rbac", "", "file of roles and bindings to apply")
	flags.BoolVar(&request.Certificate, "cert", false, "give the user a client certificate instead of a token")
	flags.BoolVar(&request.ThroughProxy, "through-proxy", false, "let the kubeconfig go through the cluster's fault proxy")
	flags.BoolVar(&remove, "remove", false, "make the user's tokens invalid (the API server forgets them within ten seconds)")
	_ = command.MarkFlagRequired("cluster")
	return command
}
