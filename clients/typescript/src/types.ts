// Made by `npm run client-types` from the description of the API; make it anew instead of changing it.

export interface PackageRecord {
  /** Unique hash of repository, identifier, version and architecture. */
  readonly id: string;
  /** Package identifier. */
  readonly package_id: string;
  /** Legacy package identifier; use package_id. Deprecated since 2026-11-20. @deprecated */
  readonly package: string;
  /** Package name. */
  readonly name: string | null;
  /** Package description, whole. */
  readonly description: string | null;
  /** Package version. */
  readonly version: string;
  /** Whether this is the newest version of the package for its architecture in its repository. */
  readonly latest_version: boolean;
  /** Supported architecture. */
  readonly architecture: string;
  /** Package section. */
  readonly section: string | null;
  /** Maintainer. */
  readonly maintainer: string | null;
  /** Author. */
  readonly author: string | null;
  /** Price of the package. */
  readonly price: 'Free' | 'Paid';
  /** Package tags. */
  readonly tags: ReadonlyArray<string> | null;
  /** Whether the package is visible. */
  readonly visible: boolean;
  /** SHA-256 of the package file. */
  readonly sha256_hash: string | null;
  /** Download size in bytes; 0 where the repository does not say. */
  readonly package_size: number;
  /** Installed size in bytes. */
  readonly installed_size: number | null;
  /** File name of the package in the repository. */
  readonly package_filename: string;
  /** Address of the icon. */
  readonly icon_url: string;
  /** Address of the header image. */
  readonly header_url: string;
  /** Address of the native depiction (version 2). */
  readonly native_depiction: string | null;
  /** Identifier of the hosting repository. */
  readonly repository_id: string;
  /** Ranking of the hosting repository: 1 is best. */
  readonly quality: number;
  /** Legacy repository ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly repositoryTier: number;
  readonly refs: {
    /** All versions of this package. */
    readonly meta: string;
    /** The hosting repository. */
    readonly repo: string;
  };
  readonly repository: EmbeddedRepository;
}

export interface EmbeddedRepository {
  /** APT suite; "./" for a flat repository. */
  readonly suite: string;
  /** Repository name: Origin of its Release, else Label. */
  readonly name: string | null;
  /** Repository description. */
  readonly description: string | null;
  /** Date of the Release file; where it has none, when the origin last changed. */
  readonly date: string;
  /** Legacy slug; use id. Deprecated since 2026-11-20. @deprecated */
  readonly slug: string;
  /** Address of the repository. */
  readonly uri: string;
  /** Has a detached Release signature. */
  readonly origin_has_release_gpg: boolean;
  /** Ranking of the repository: 1 is best, 5 is last. */
  readonly quality: number;
  /** Number of package records in the repository. */
  readonly package_count: number;
  /** Whether it is a bootstrap repository. */
  readonly bootstrap: boolean;
  /** Has an InRelease file. */
  readonly origin_has_in_release: boolean;
  /** Repository identifier. */
  readonly id: string;
  /** Whether the repository is visible. */
  readonly visible: boolean;
  /** Path of the Release file below the address. */
  readonly origin_release_path: string;
  /** Host name of the origin. */
  readonly origin_hostname: string;
  /** SHA-256 of the Packages index as downloaded. */
  readonly origin_packages_hash: string;
  /** The origin uses https. */
  readonly origin_uses_https: boolean;
  /** Legacy ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly tier: number;
  /** When the bytes of the origin were last seen to change. */
  readonly origin_last_updated: string;
  /** Supports payment version 1. */
  readonly origin_supports_payment_v1: boolean;
  /** Sections of its packages, sorted. */
  readonly sections: ReadonlyArray<string>;
  /** Repository version; empty where it has none. */
  readonly version: string;
  /** SHA-256 of the Release file as downloaded. */
  readonly origin_release_hash: string;
  /** Path of the Packages index below the address. */
  readonly origin_packages_path: string;
  /** Supports payment version 2 (native). */
  readonly origin_supports_payment_v2: boolean;
  /** Legacy bootstrap flag; use bootstrap. Deprecated since 2026-11-20. @deprecated */
  readonly isBootstrap: boolean;
}

export interface RepositoryRecord {
  /** Repository identifier. */
  readonly id: string;
  /** Repository name: Origin of its Release, else Label. */
  readonly name: string | null;
  /** Repository description. */
  readonly description: string | null;
  /** Address of the repository. */
  readonly uri: string;
  /** APT suite; "./" for a flat repository. */
  readonly suite: string;
  /** Sections of its packages, sorted. */
  readonly sections: ReadonlyArray<string>;
  /** Repository version. */
  readonly version: string | null;
  /** Date of the Release file. */
  readonly date: string | null;
  /** Whether the repository is visible. */
  readonly visible: boolean;
  /** Number of package records in the repository. */
  readonly package_count: number;
  /** Ranking of the repository: 1 is best, 5 is last. */
  readonly quality: number;
  /** Whether it is a bootstrap repository. */
  readonly bootstrap: boolean;
  /** Host name of the origin. */
  readonly origin_hostname: string;
  /** When the bytes of the origin were last seen to change. */
  readonly origin_last_updated: string;
  /** Path of the Release file below the address. */
  readonly origin_release_path: string;
  /** SHA-256 of the Release file as downloaded. */
  readonly origin_release_hash: string;
  /** Path of the Packages index below the address. */
  readonly origin_packages_path: string;
  /** SHA-256 of the Packages index as downloaded. */
  readonly origin_packages_hash: string;
  /** Has a detached Release signature. */
  readonly origin_has_release_gpg: boolean;
  /** Has an InRelease file. */
  readonly origin_has_in_release: boolean;
  /** The origin uses https. */
  readonly origin_uses_https: boolean;
  /** Supports payment version 1. */
  readonly origin_supports_payment_v1: boolean;
  /** Supports payment version 2 (native). */
  readonly origin_supports_payment_v2: boolean;
  /** Payment endpoint for payment version 1. */
  readonly partner_endpoint: string | null;
  readonly refs: {
    /** The list of its packages. */
    readonly packages: string;
    /** This repository. */
    readonly meta: string;
  };
  /** Legacy slug; use id. Deprecated since 2026-11-20. @deprecated */
  readonly slug: string;
  /** Legacy bootstrap flag; use bootstrap. Deprecated since 2026-11-20. @deprecated */
  readonly isBootstrap: boolean;
  /** Legacy ranking; use quality. Deprecated since 2026-11-20. @deprecated */
  readonly tier: number;
}

export interface Finding {
  /** What is wrong; stable. */
  readonly code: 'address-refused' | 'port-refused' | 'scheme-refused' | 'redirects' | 'redirect-insecure' | 'redirect-unreadable' | 'no-network' | 'dns' | 'connection' | 'certificate-expired' | 'certificate-untrusted' | 'certificate-name' | 'tls' | 'timeout' | 'too-slow' | 'too-large' | 'headers-too-large' | 'truncated' | 'protocol' | 'aborted' | 'origin-busy' | 'server-error' | 'budget-exceeded' | 'backing-off' | 'release-missing' | 'release-forbidden' | 'release-html' | 'release-empty' | 'release-unreadable' | 'release-length-unknown' | 'release-older' | 'signature-missing' | 'signature-unanswered' | 'signature-lost' | 'signature-bad' | 'signature-weak' | 'signature-binary' | 'signature-key-changed' | 'signature-key-expired' | 'signature-key-revoked' | 'signature-expired' | 'index-missing' | 'index-forbidden' | 'index-html' | 'index-empty' | 'index-wrong-compression' | 'index-truncated' | 'index-corrupt' | 'index-bomb' | 'index-trailing-garbage' | 'index-too-large' | 'index-unreadable' | 'index-length-unknown' | 'index-encoded' | 'index-mismatch' | 'index-unverified' | 'index-shrunken' | 'store-failed' | 'internal' | 'release-line-malformed' | 'release-blank-line' | 'release-field-repeated' | 'signatures-too-many' | 'release-field-oversized' | 'release-encoding-not-utf8' | 'release-hash-malformed' | 'release-hash-empty' | 'release-entry-conflict' | 'release-architecture-singular' | 'release-payment-gateway-malformed' | 'release-expired' | 'release-in-future' | 'release-date-unreadable' | 'release-without-hashes' | 'release-weak-hashes' | 'index-not-listed' | 'index-variants-differ' | 'inrelease-unsigned' | 'signature-unreadable' | 'payment-endpoint-unreadable' | 'extras-unanswered' | 'depiction-unusable' | 'redirected' | 'address-former' | 'snapshot-damaged' | 'package-missing' | 'package-malformed' | 'version-missing' | 'version-unreadable' | 'version-malformed' | 'architecture-missing' | 'architecture-malformed' | 'filename-missing' | 'filename-malformed' | 'size-missing' | 'size-malformed' | 'installed-size-malformed' | 'sha256-malformed' | 'icon-malformed' | 'header-malformed' | 'native-depiction-malformed' | 'field-malformed' | 'field-commented-out' | 'field-repeated' | 'continuation-orphaned' | 'encoding-not-utf8' | 'stanza-oversized' | 'stanza-duplicate' | 'records-too-many' | 'versions-too-many' | 'field-oversized' | 'record-oversized' | 'publication-too-large' | 'provides-too-many' | 'sections-too-many' | 'package-bytes-changed' | 'package-diverges';
  /** broken keeps packages or updates away from people, weak risks something, note is worth tidying. */
  readonly weight: 'broken' | 'weak' | 'note';
  /** How often it was found. */
  readonly count: number;
  /** What is wrong, in a few words. */
  readonly title: string;
  /** A sentence for the operator of this service, with the first occurrence in it. */
  readonly for_operator: string;
  /** A sentence for the owner of the repository that says how to mend it. */
  readonly for_owner: string;
}

export interface FindingsRecord {
  /** Repository identifier. */
  readonly repository_id: string;
  /** Why the last crawl took nothing; null where it went well. */
  readonly failure: Finding | null;
  /** How the Release of the data in force is signed; null where none was ever read. */
  readonly signature: {
    readonly state: 'unsigned' | 'signed' | 'verified' | 'lost' | 'unanswered' | 'bad' | 'weak' | 'binary' | 'key-changed' | 'key-expired' | 'key-revoked' | 'signature-expired';
    /** What the state means. */
    readonly text: string;
    /** Fingerprints, or key identifiers, of those who say to have signed. */
    readonly signers: ReadonlyArray<string>;
  } | null;
  /** In the data in force, ordered by code. */
  readonly findings: ReadonlyArray<Finding>;
}

export interface SafetyRecord {
  /** The supplied repository URI, unchanged. */
  readonly uri: string;
  /** Whether the repository is safe. */
  readonly safe: boolean;
}

export interface HealthRecord {
  readonly healthy: boolean;
  readonly service_data: {
    readonly healthy: boolean;
    readonly search_index_healthy: boolean;
    readonly database_healthy: boolean;
  };
  readonly route_data: {
    readonly package: {
      readonly healthy: boolean;
      readonly lookup_healthy: boolean;
      readonly multi_lookup_healthy: boolean;
      readonly search_healthy: boolean;
    };
    readonly repository: {
      readonly healthy: boolean;
      readonly lookup_healthy: boolean;
      readonly packages_healthy: boolean;
      readonly safety_healthy: boolean;
      readonly search_healthy: boolean;
    };
    readonly download: {
      readonly healthy: boolean;
      readonly ingest_healthy: boolean;
    };
  };
  /** Where a replica of a publication answers: from what. */
  readonly replica?: {
    /** Number of the generation; null before the first was taken. */
    readonly generation: number | null;
    /** When it was published. */
    readonly published: string | null;
    /** Seconds since then. */
    readonly age: number | null;
    /** When the publication last said that this is its newest; null where it has not since the start. */
    readonly confirmed: string | null;
  };
}

export interface LandingRecord {
  readonly info: {
    readonly name: string;
    readonly version: string;
    /** Digest of what is published: it changes when the index does. */
    readonly build: string;
    readonly platform: string;
    readonly runtime: string;
  };
  readonly reference: {
    readonly docs: string;
    /** What clients must know of each release. */
    readonly changes: string;
    readonly privacy_policy: string;
    /** Day on which the privacy policy last changed. */
    readonly privacy_updated: string;
    readonly contact_email: string;
    readonly copyright: string;
    /** Public key of Ed25519, 32 bytes in base64url, by which `generation.jws` signs `generation.json`. */
    readonly signing_key?: string;
  };
  readonly statistics: {
    readonly repositories: number;
    /** Distinct package identifiers. */
    readonly packages: number;
    /** Package records. */
    readonly versions: number;
    /** When the newest change of any origin was seen. */
    readonly updated: string;
  };
  /** Where a replica of a publication answers: from what. */
  readonly replica?: {
    /** Number of the generation; null before the first was taken. */
    readonly generation: number | null;
    /** When it was published. */
    readonly published: string | null;
    /** Seconds since then. */
    readonly age: number | null;
    /** When the publication last said that this is its newest; null where it has not since the start. */
    readonly confirmed: string | null;
  };
}

export interface DependencyClosure {
  /** Package identifier. */
  readonly package_id: string;
  /** The architecture that was asked for. */
  readonly architecture: string;
  /** The firmware that was asked for; null where any will do. */
  readonly firmware: string | null;
  /** installable: all that is needed is listed; unmet: something cannot be met, see there; too-large: more than 10000 packages or 300000 relations had to be looked at, and what is listed is a part. */
  readonly outcome: 'installable' | 'unmet' | 'too-large';
  /** The repositories that are had already, by identifier, sorted. */
  readonly repositories: ReadonlyArray<string>;
  /** What was asked for and is no repository here, sorted. */
  readonly unknown_repositories: ReadonlyArray<string>;
  /** Repositories to add, by ranking. */
  readonly add: ReadonlyArray<{
    /** Identifier of the repository. */
    readonly repository_id: string;
    readonly uri: string;
    readonly suite: string;
    /** How many of the packages come from it. */
    readonly package_count: number;
  }>;
  /** What would be installed: the package itself first, then each below what needs it first. Recommends are left out. */
  readonly packages: ReadonlyArray<{
    /** Package identifier. */
    readonly package_id: string;
    readonly version: string;
    readonly architecture: string;
    /** Identifier of the repository. */
    readonly repository_id: string;
    /** The package that needs it; null for what was asked for. */
    readonly required_by: string | null;
    readonly relation: string | null;
  }>;
  /** What the device itself provides. */
  readonly device: ReadonlyArray<{
    readonly name: string;
    /** The relation, such as "b (>= 1.2)"; cut at 300 characters. */
    readonly relation: string;
    /** The package that needs it; null for what was asked for. */
    readonly required_by: string | null;
    /** system: it tells what the device is; essential: a bootstrap has it everywhere. */
    readonly reason: 'system' | 'essential';
  }>;
  /** What cannot be met, and why; none of its alternatives can. */
  readonly unmet: ReadonlyArray<{
    /** The package that needs it; null for what was asked for. */
    readonly required_by: string | null;
    /** Null for what was asked for. */
    readonly field: 'Pre-Depends' | 'Depends' | null;
    readonly alternatives: ReadonlyArray<{
      /** The relation, such as "b (>= 1.2)"; cut at 300 characters. */
      readonly relation: string;
      /** not-found: no repository has it; architecture: it is there for other architectures alone; version: the version that apt takes is another, and no repository has a newer one that fits; firmware: the device runs another firmware; conflict: what has it conflicts with what is installed besides; dependency: what has it cannot be installed itself; where it is installed all the same, it has an entry of its own; repositories: it is elsewhere, and no more repositories are added; unreadable: it is no relation */
      readonly reason: 'not-found' | 'architecture' | 'version' | 'firmware' | 'conflict' | 'dependency' | 'repositories' | 'unreadable';
      /** The same in a sentence, with names and versions. */
      readonly text: string;
    }>;
    /** Alternatives beyond those that are told. */
    readonly left_out: number;
  }>;
}

export interface Dependencies {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: DependencyClosure;
}

export interface PackageList {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<PackageRecord>;
}

export interface PackagePage {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly refs: {
    readonly nextPage?: string;
    readonly previousPage?: string;
  };
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<PackageRecord>;
}

export interface Repository {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: RepositoryRecord;
}

export interface RepositoryList {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<RepositoryRecord>;
}

export interface RepositoryPage {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly refs: {
    readonly nextPage?: string;
    readonly previousPage?: string;
  };
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<RepositoryRecord>;
}

export interface RepositoryFindings {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: FindingsRecord;
}

export interface SafetyList {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<SafetyRecord>;
}

export interface DivergencesRecord {
  /** Repositories that name other bytes for the same builds, those that do for most first; at most 1,000. */
  readonly pairs: ReadonlyArray<{
    /** Identifiers of both repositories. */
    readonly repositories: ReadonlyArray<string>;
    /** When the last of it came to be, as far as anybody knows. */
    readonly since: string;
    /** Of how many builds: a version of a package for an architecture. */
    readonly count: number;
    /** The first of them, by package; at most 20. */
    readonly builds: ReadonlyArray<{
      /** Package identifier. */
      readonly package_id: string;
      /** Package version. */
      readonly version: string;
      /** Supported architecture. */
      readonly architecture: string;
    }>;
  }>;
  /** Repositories that named other bytes for a version that they had before, the last first; at most 1,000. */
  readonly changed: ReadonlyArray<{
    /** Repository identifier. */
    readonly repository_id: string;
    /** When other bytes than before were seen. */
    readonly changed: string;
    /** Of how many builds: a version of a package for an architecture. */
    readonly count: number;
    /** The first of them, by package; at most 20. */
    readonly builds: ReadonlyArray<{
      /** Package identifier. */
      readonly package_id: string;
      /** Package version. */
      readonly version: string;
      /** Supported architecture. */
      readonly architecture: string;
    }>;
  }>;
}

export interface Divergences {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: DivergencesRecord;
}

export interface StatusRecord {
  /** The last builds, 30 at most, the newest last. */
  readonly builds: ReadonlyArray<{
    /** When it ended. */
    readonly date: string;
    /** published: what is published is of it. nothing: no repository gave anything usable. failed: it ended before all of it was published. What was published before then still stands, unless it ended when files were given their names: then documents may be of it and pages of the one before. */
    readonly ended: 'published' | 'nothing' | 'failed';
    readonly repositories: {
      /** Their data changed. */
      readonly fresh: number;
      /** Their origins confirmed it. */
      readonly unchanged: number;
      /** Nothing usable came, and the data from before stays. */
      readonly stale: number;
      /** And there is none. */
      readonly failed: number;
      /** The build did not visit them. */
      readonly unvisited: number;
    };
    readonly packages: {
      readonly added: number;
      readonly updated: number;
      readonly removed: number;
    };
  }>;
  /** Every repository of the manifest, by slug. */
  readonly repositories: ReadonlyArray<{
    readonly repository_id: string;
    /** Of the last visit. fresh: its data changed. unchanged: the origin confirmed it. stale: nothing usable came, and the data from before stays. failed: and there is none. */
    readonly outcome: 'fresh' | 'unchanged' | 'stale' | 'failed';
    /** Since when builds have found it in order (fresh, unchanged) or not (stale, failed). */
    readonly since: string;
    /** When the last build that visited it ended; null where none has. */
    readonly visited: string | null;
    /** When the origin last confirmed the data that is published; null where there is none. */
    readonly confirmed: string | null;
    /** Stable code of what went wrong; null where nothing did. */
    readonly code: string | null;
    /** The same as a sentence. */
    readonly reason: string | null;
    /** Codes of what waits for the operator's word: an index that shrank, another key, an older Release. */
    readonly held_back: ReadonlyArray<string>;
    /** What is wrong with the data that is published; the findings document of the repository has the words. */
    readonly findings: ReadonlyArray<{
      /** What is wrong; stable. */
      readonly code: 'address-refused' | 'port-refused' | 'scheme-refused' | 'redirects' | 'redirect-insecure' | 'redirect-unreadable' | 'no-network' | 'dns' | 'connection' | 'certificate-expired' | 'certificate-untrusted' | 'certificate-name' | 'tls' | 'timeout' | 'too-slow' | 'too-large' | 'headers-too-large' | 'truncated' | 'protocol' | 'aborted' | 'origin-busy' | 'server-error' | 'budget-exceeded' | 'backing-off' | 'release-missing' | 'release-forbidden' | 'release-html' | 'release-empty' | 'release-unreadable' | 'release-length-unknown' | 'release-older' | 'signature-missing' | 'signature-unanswered' | 'signature-lost' | 'signature-bad' | 'signature-weak' | 'signature-binary' | 'signature-key-changed' | 'signature-key-expired' | 'signature-key-revoked' | 'signature-expired' | 'index-missing' | 'index-forbidden' | 'index-html' | 'index-empty' | 'index-wrong-compression' | 'index-truncated' | 'index-corrupt' | 'index-bomb' | 'index-trailing-garbage' | 'index-too-large' | 'index-unreadable' | 'index-length-unknown' | 'index-encoded' | 'index-mismatch' | 'index-unverified' | 'index-shrunken' | 'store-failed' | 'internal' | 'release-line-malformed' | 'release-blank-line' | 'release-field-repeated' | 'signatures-too-many' | 'release-field-oversized' | 'release-encoding-not-utf8' | 'release-hash-malformed' | 'release-hash-empty' | 'release-entry-conflict' | 'release-architecture-singular' | 'release-payment-gateway-malformed' | 'release-expired' | 'release-in-future' | 'release-date-unreadable' | 'release-without-hashes' | 'release-weak-hashes' | 'index-not-listed' | 'index-variants-differ' | 'inrelease-unsigned' | 'signature-unreadable' | 'payment-endpoint-unreadable' | 'extras-unanswered' | 'depiction-unusable' | 'redirected' | 'address-former' | 'snapshot-damaged' | 'package-missing' | 'package-malformed' | 'version-missing' | 'version-unreadable' | 'version-malformed' | 'architecture-missing' | 'architecture-malformed' | 'filename-missing' | 'filename-malformed' | 'size-missing' | 'size-malformed' | 'installed-size-malformed' | 'sha256-malformed' | 'icon-malformed' | 'header-malformed' | 'native-depiction-malformed' | 'field-malformed' | 'field-commented-out' | 'field-repeated' | 'continuation-orphaned' | 'encoding-not-utf8' | 'stanza-oversized' | 'stanza-duplicate' | 'records-too-many' | 'versions-too-many' | 'field-oversized' | 'record-oversized' | 'publication-too-large' | 'provides-too-many' | 'sections-too-many' | 'package-bytes-changed' | 'package-diverges';
      readonly weight: 'broken' | 'weak' | 'note';
      /** How often it was found. */
      readonly count: number;
    }>;
    /** A letter for each of the builds, in their order: f fresh, u unchanged, s stale, x failed, - not visited (or not in the index yet, or the build ended before). */
    readonly history: string;
  }>;
}

export interface Status {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: StatusRecord;
}

export interface Landing {
  readonly status: '200 OK';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: LandingRecord;
}

export interface Health {
  readonly status: '200 OK' | '503 Service Unavailable';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: HealthRecord;
}

export interface Liveness {
  readonly status: '200 OK';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
}

export interface Readiness {
  readonly status: '200 OK' | '503 Service Unavailable';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
}

export interface Ingest {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  /** How many were counted: of packages and versions that are known, once for a client and day. */
  readonly count: number;
}

export interface DownloadCount {
  /** Package identifier. */
  readonly package_id: string;
  /** All that was counted, of every version and on every day. */
  readonly total: number;
  /** What was counted today and on the 29 days before, in UTC. */
  readonly last_30_days: number;
  /** The days of the last 400 on which something was counted, oldest first. */
  readonly daily: ReadonlyArray<{
    /** A day, in UTC. */
    readonly day: string;
    readonly count: number;
  }>;
}

export interface DownloadCountAnswer {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  readonly data: DownloadCount;
}

export interface DownloadTotal {
  /** Package identifier. */
  readonly package_id: string;
  /** All that was counted until then, of every version. */
  readonly total: number;
  /** What was counted on the last 30 of these days, in UTC. */
  readonly last_30_days: number;
}

export interface DownloadList {
  readonly message: '200 Successful';
  /** When the content last changed; for a computed answer, now. */
  readonly date: string;
  /** Number of items in data. */
  readonly count: number;
  readonly data: ReadonlyArray<DownloadTotal>;
}

export interface Error {
  readonly message: string;
  readonly error: string;
  readonly date: string;
}

export interface NotFound {
  readonly message: '404 Not Found';
  readonly date: string;
}

export interface Download {
  readonly package_id: string;
  readonly package_version: string;
  readonly package_author?: string | null;
  readonly package_maintainer?: string | null;
  readonly repository_uri?: string | null;
  readonly repository_suite?: string | null;
  readonly repository_component?: string | null;
}

export type Downloads = ReadonlyArray<Download>;

export interface JsonFeed {
  readonly version: 'https://jsonfeed.org/version/1.1';
  readonly title: string;
  readonly home_page_url: string;
  readonly feed_url: string;
  readonly icon: string;
  readonly favicon: string;
  readonly items: ReadonlyArray<{
    readonly id: string;
    readonly url: string;
    readonly title: string;
    readonly content_text: string;
    readonly date_published: string;
    readonly authors: ReadonlyArray<{
      readonly name: string;
    }>;
    readonly tags: ReadonlyArray<string>;
  }>;
}

export interface Badge {
  readonly schemaVersion: 1;
  /** The text on the left: who says it. */
  readonly label: string;
  /** The text on the right: how the repository fares. */
  readonly message: string;
  /** The ground of the right side. */
  readonly color: string;
  /** The ground of the left side. */
  readonly labelColor: string;
  /** Whether nothing of the repository could ever be read. */
  readonly isError: boolean;
}

export interface Generation {
  readonly format: 1;
  readonly number: number;
  readonly date: string;
  readonly previous: number | null;
  readonly catalog: {
    readonly path: string;
    readonly sha256: string;
    readonly size: number;
    readonly compressed_size: number;
  };
  readonly documents: {
    readonly count: number;
    readonly digest: string;
    readonly inventory: string;
    readonly differences?: string;
  };
  readonly changes: string;
  readonly portions?: {
    readonly path: string;
    readonly sha256: string;
  };
}

export interface PackageChange {
  readonly package_id: string;
  readonly repository: string;
  readonly change: 'added' | 'updated' | 'removed';
  readonly version: string | null;
  readonly previous_version: string | null;
}

export interface ChangeList {
  readonly format: 1;
  readonly number: number;
  readonly date: string;
  readonly previous: number | null;
  readonly documents: {
    readonly written: ReadonlyArray<string>;
    readonly removed: ReadonlyArray<string>;
  };
  readonly packages: ReadonlyArray<PackageChange>;
}
