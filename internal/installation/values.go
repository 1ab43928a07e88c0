package installation

// Values that come from Secrets are copied into Secrets. The DataObject of such a copy
// refers to its Secret, see holder.SecretOf.
