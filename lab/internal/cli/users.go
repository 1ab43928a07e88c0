package cli

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/audit"
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
		Args: cobra.ExactArgs(1),
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

func newAudit(s *settings) *cobra.Command {
	var user string
	var asJSON, mark bool
	var since int64
	command := &cobra.Command{
		Use:   "audit CLUSTER",
		Short: "Count the requests to a cluster's API server by user, verb and resource",
		Example: `  lab audit target
  mark=$(lab audit target --mark); make something; lab audit target --since $mark --user admin`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			lab, err := client.Lab(command.Context())
			if err != nil {
				return err
			}
			cluster, found := lab.Clusters[args[0]]
			if !found {
				return fmt.Errorf("lab %s has no cluster %q", lab.Name, args[0])
			}
			out := command.OutOrStdout()
			if mark {
				end, err := audit.End(cluster.AuditLog)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(out, end)
				return err
			}
			counts, err := audit.Counts(cluster.AuditLog, audit.Mark(since), user)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(out, counts)
			}
			table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "USER\tVERB\tRESOURCE\tREQUESTS")
			for _, count := range counts {
				fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", count.User, count.Verb, count.Resource, count.Requests)
			}
			return table.Flush()
		},
	}
	command.Flags().StringVar(&user, "user", "", "count this user's requests only")
	command.Flags().Int64Var(&since, "since", 0, "count from this mark on")
	command.Flags().BoolVar(&mark, "mark", false, "print the mark of now")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

func newGit(s *settings) *cobra.Command {
	command := &cobra.Command{Use: "git", Short: "Make repositories on the lab's Git server"}
	command.AddCommand(&cobra.Command{
		Use:   "create NAME",
		Short: "Make an empty repository and print its addresses, as JSON",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			repository, err := client.CreateRepository(command.Context(), supervisor.RepositoryRequest{Name: args[0]})
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), repository)
		},
	})
	return command
}
